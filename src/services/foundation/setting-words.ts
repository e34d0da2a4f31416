// The command line imports this module when it starts, so do not import schemas here.

/** The words for a setting, which the command line, the API document and pages share. */
export interface SettingWords {
  /** Its name, as people read it. */
  label: string;
  /** What it decides, as a sentence. */
  about: string;
  /** The options that set it, each with a line of help. */
  options?: Record<string, string>;
  /**
   * Its name and its sentence on a page, and the words there for values that are not text, such as
   * true and null.
   */
  page?: { label: string; about?: string; values?: Record<string, string> };
  /** The options that clear it, for commands that change an existing object. */
  clearing?: Record<string, string>;
}

/** The words for each setting of an object, by its name, in the order in which people read them. */
export type WordsFor<Name extends string> = Record<Name, SettingWords>;
