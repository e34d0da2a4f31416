import type { Command } from 'commander';
import type { z } from 'zod';
import type { keyView, newKeyView } from '../../services/keys/schema.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';

type Key = z.output<typeof keyView>;

const row: Fields<Key> = [
  ['Purpose', (view) => view.purpose],
  ['State', (view) => view.state],
  ['Created', (view) => view.createdAt],
  ['Retired', (view) => view.retiredAt],
  ['ID', (view) => view.id, 'whole'],
];

const made: Fields<z.output<typeof newKeyView>> = [
  ['ID', (view) => view.id],
  ['Created', (view) => view.createdAt],
  ['Signs from', (view) => view.signsFrom],
];

/** Declares `idctl key`. */
export function addKeyCommands(program: Command): void {
  const key = noun(program, 'key', 'The master key and the keys that sign sessions', 'idctl key list');
  verb(key, 'list', {
    summary: 'List the keys by id, and what each is used for now',
    example: 'idctl key list',
    run: async (call) => {
      const { listKeys } = await import('../../services/keys/list.ts');
      const { listKeysInput } = await import('../../services/keys/schema.ts');
      call.table(await call.every(listKeysInput, listKeys), row, 'There are no keys.');
    },
  });
  const rotate = noun(key, 'rotate', 'Put a new key in the place of an old one', 'idctl key rotate signing');
  verb(rotate, 'signing', {
    summary: 'Sign sessions with a new key; nobody is signed out',
    example: 'idctl key rotate signing',
    run: async (call) => {
      const { rotateSigningKey } = await import('../../services/keys/rotate-signing.ts');
      const { rotateSigningKeyInput } = await import('../../services/keys/schema.ts');
      call.show(await call.operate(rotateSigningKeyInput, rotateSigningKey), made);
      call.note('The old key verifies until the last token that it signed has ended.');
    },
  });
}
