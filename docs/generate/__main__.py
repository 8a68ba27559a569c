"""Write the pages made from the code: `python -m docs.generate`, in the repository's folder."""

from docs.generate.pages import write

if __name__ == "__main__":
    write()
