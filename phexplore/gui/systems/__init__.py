"""What is one system's own in the window, a room for each."""
