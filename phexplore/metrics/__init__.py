"""What the accuracy of a release is measured by."""
