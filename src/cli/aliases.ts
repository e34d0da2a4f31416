import type { Command } from 'commander';

/**
 * Verbs with the same meaning. The first of `verbs` that a noun has takes the `words` as aliases.
 * `create` creates a new object; `add` puts an existing object into a set.
 */
export const alike: readonly { verbs: readonly string[]; words: readonly string[] }[] = [
  { verbs: ['create', 'add'], words: ['create', 'add', 'new', 'register'] },
  { verbs: ['delete', 'remove', 'revoke', 'unlink'], words: ['delete', 'remove', 'rm'] },
];

/** Other names of nouns: an app is a bot, and the client of an application stands for it. */
export const otherNames: Readonly<Record<string, string>> = { bot: 'app', application: 'client' };

/** Adds the aliases to the commands below `parent`, at every depth. Declare all commands first. */
export function addAliases(parent: Command): void {
  for (const { verbs, words } of alike) {
    const named = verbs.map((verb) => findCommand(parent, verb));
    const command = named.find((one) => one !== undefined);
    for (const word of words) if (findCommand(parent, word) === undefined) command?.alias(word);
  }
  if (parent.parent === null)
    for (const [word, name] of Object.entries(otherNames)) findCommand(parent, name)?.alias(word);
  for (const command of parent.commands) addAliases(command);
}

/** Finds a direct subcommand of `parent` by its name or an alias. */
export function findCommand(parent: Command, word: string): Command | undefined {
  return parent.commands.find((one) => one.name() === word || one.aliases().includes(word));
}
