"""What pages show and do, without widgets: session, actions, processes beside the window."""
