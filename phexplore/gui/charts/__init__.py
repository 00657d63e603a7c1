"""The canvas of pictures: axes, scales, frame, keyboard and data table."""
