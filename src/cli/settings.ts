import type { SettingWords, WordsFor } from '../services/foundation/setting-words.ts';
import type { Fields } from './output.ts';

/** The options of settings, for a command that creates an object. */
export function optionsOf(words: WordsFor<string>): Record<string, string> {
  return merged(words, ({ options }) => options);
}

/** The options for a command that changes an object, including those that clear a setting. */
export function changesOf(words: WordsFor<string>): Record<string, string> {
  return { ...optionsOf(words), ...merged(words, ({ clearing }) => clearing) };
}

function merged(
  words: WordsFor<string>,
  of: (one: SettingWords) => Record<string, string> | undefined,
): Record<string, string> {
  return Object.assign({}, ...Object.values(words).map((one) => of(one) ?? {}));
}

type Shown = ReturnType<Fields<unknown>[number][1]>;

/** The fields that show settings; `as` shows one in another form. */
export function fieldsOf<Name extends string, View extends { [Setting in Name]?: Shown }>(
  words: WordsFor<Name>,
  as: Partial<Record<Name, (view: View) => Shown>> = {},
): Fields<View> {
  // Object.keys loses the type of the names.
  const names = Object.keys(words) as Name[];
  return names.map((name) => [words[name].label, as[name] ?? ((view) => view[name])]);
}
