"""State and actions of the pages, without widgets: session, actions, background processes."""
