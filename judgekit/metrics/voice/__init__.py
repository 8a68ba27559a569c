"""Brand voice: does an assistant sound like its persona, stay safe, and keep at it?"""
