import { Command } from 'commander';
import { expect, test } from 'vitest';
import { addAliases, findCommand } from '../../src/cli/aliases.ts';
import { wantedAt } from '../../src/cli/complete/wanted.ts';
import { createProgram } from '../../src/cli/program.ts';

/** The verb that each word means under a noun with these verbs. */
function meaning(...verbs: string[]): Record<string, string | undefined> {
  const program = new Command('idctl');
  const noun = program.command('thing');
  for (const verb of verbs) noun.command(verb);
  addAliases(program);
  const words = ['create', 'add', 'new', 'register', 'delete', 'remove', 'rm', 'revoke'];
  return Object.fromEntries(words.map((word) => [word, findCommand(noun, word)?.name()]));
}

const none = { create: undefined, add: undefined, new: undefined, register: undefined };

test('the words for one verb mean the verb that the noun has', () => {
  expect(meaning('create', 'delete')).toEqual({
    ...{ create: 'create', add: 'create', new: 'create', register: 'create' },
    ...{ delete: 'delete', remove: 'delete', rm: 'delete', revoke: undefined },
  });
  expect(meaning('revoke')).toEqual({
    ...none,
    ...{ delete: 'revoke', remove: 'revoke', rm: 'revoke', revoke: 'revoke' },
  });
});

test('a word that is a verb of the noun means that verb', () => {
  expect(meaning('add', 'create', 'remove', 'revoke')).toEqual({
    ...{ create: 'create', add: 'add', new: 'create', register: 'create' },
    ...{ delete: 'remove', remove: 'remove', rm: 'remove', revoke: 'revoke' },
  });
});

test('interface page: an app is also called bot, and a client application', async () => {
  for (const first of ['bot', 'application', '']) {
    const program = await createProgram(first);
    if (first !== 'application') expect(findCommand(program, 'bot')?.name()).toBe('app');
    if (first !== 'bot') expect(findCommand(program, 'application')?.name()).toBe('client');
  }
  const program = await createProgram();
  const offered = wantedAt(program, ['']).words.map(({ value }) => value);
  expect(offered).toEqual(expect.arrayContaining(['app', 'bot', 'client', 'application']));
  expect(wantedAt(program, ['application', 'te']).words.map(({ value }) => value)).toEqual([
    'test',
  ]);
});
