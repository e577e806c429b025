"""Feature functions of the decoder: values of rule applications that grammar files do not contain."""
