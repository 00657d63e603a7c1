"""The main window, its areas and its commands."""
