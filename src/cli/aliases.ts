import type { Command } from 'commander';

/**
 * Words that mean the same. Of a noun's commands, the first of `verbs` that exists is the true one:
 * it takes the `words` as aliases. `create` makes a new thing with a life of its own, `add` puts an
 * existing thing into a set.
 */
export const alike: readonly { verbs: readonly string[]; words: readonly string[] }[] = [
  { verbs: ['create', 'add'], words: ['create', 'add', 'new', 'register'] },
  { verbs: ['delete', 'remove', 'revoke', 'unlink'], words: ['delete', 'remove', 'rm'] },
];

/** Gives every command below this one its aliases. Declare all commands first. */
export function addAliases(parent: Command): void {
  for (const { verbs, words } of alike) {
    const named = verbs.map((verb) => findCommand(parent, verb));
    const command = named.find((one) => one !== undefined);
    for (const word of words) if (findCommand(parent, word) === undefined) command?.alias(word);
  }
  for (const command of parent.commands) addAliases(command);
}

/** The command below this one that the word means, by its name or an alias. */
export function findCommand(parent: Command, word: string): Command | undefined {
  return parent.commands.find((one) => one.name() === word || one.aliases().includes(word));
}
