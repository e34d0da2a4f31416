import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';

// All commands follow one grammar, new commands too.

const makes = ['create', 'add'];
const ends =
  /^(delete|remove|revoke|unlink|relink|disable|regenerate|rotate|password|totp-reset|master|signing)$/;

interface Leaf {
  typed: string;
  verb: string;
  flags: (string | undefined)[];
}

const leaves = leavesOf(await createProgram());

function leavesOf(command: Command, before = ''): Leaf[] {
  return command.commands.flatMap((child) => {
    const typed = `${before}${child.name()}`;
    const flags = child.options.map(({ long }) => long);
    const leaf = { typed, verb: child.name(), flags };
    return child.commands.length === 0 ? [leaf] : leavesOf(child, `${typed} `);
  });
}

function without(flag: string, isMeant: (verb: string) => boolean): string[] {
  const lacking = leaves.filter(({ verb, flags }) => isMeant(verb) && !flags.includes(flag));
  return lacking.map(({ typed }) => typed);
}

test('every command that creates something has --if-absent and --dry-run, and no other has --if-absent', () => {
  expect(without('--if-absent', (verb) => makes.includes(verb))).toEqual([]);
  expect(without('--dry-run', (verb) => makes.includes(verb))).toEqual([]);
  const others = leaves.filter(
    ({ verb, flags }) => flags.includes('--if-absent') && !makes.includes(verb),
  );
  expect(others).toEqual([]);
});

test('every command that removes, revokes or replaces something has --dry-run', () => {
  expect(without('--dry-run', (verb) => ends.test(verb))).toEqual([]);
});

test('every command takes --yes', async () => {
  expect((await createProgram()).options.map(({ long }) => long)).toContain('--yes');
});

test('no command has the name of an alias', () => {
  const aliases = ['new', 'register', 'rm'];
  expect(leaves.filter(({ verb }) => aliases.includes(verb))).toEqual([]);
});
