"""Tables of counts and of group sizes by region."""
