"""The built-in plugins, such as engines, metrics and tasks, and the code that they share. Other packages may add
plugins, too."""
