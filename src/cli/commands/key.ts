import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  keyView,
  newKeyView,
  newMasterKeyView,
} from '../../services/foundation/keys/operations.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/foundation/keys/operations.ts');

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

type Rotated = z.output<typeof newMasterKeyView>;

const rotated: Fields<Rotated> = [
  ['ID', (view) => view.id],
  ['State', (view) => view.state],
  ['Former', (view) => view.former],
  ['Sealed anew', (view) => view.resealed],
];

const advice: Record<Rotated['state'], string> = {
  rotated:
    'The key file has the new key and the former one. Earlier backups need the former key,\nwhich the next rotation removes. Keep a copy of the file apart from the backups.',
  prepared:
    'The new key waits in the key file. Copy that to every host of this database, then:\n  idctl key rotate master',
  finished: 'An earlier rotation was interrupted. It is finished now, and no new key was made.',
};

function losing(ids: string[]): string {
  return `The key ${ids.join(', ')} leaves the key file: backups made with it will open only with a copy that you kept.`;
}

/** Declares `idctl key`. */
export function addKeyCommands(program: Command): void {
  const key = noun(
    program,
    'key',
    'The master key and the keys that sign sessions',
    'idctl key list',
  );
  verb(key, 'list', {
    summary: 'List the keys by id, and what each is used for now',
    example: 'idctl key list',
    run: async (call) => call.list((await operations()).listKeys, row, 'There are no keys.'),
  });
  const rotate = noun(key, 'rotate', 'Replace a key', 'idctl key rotate signing');
  verb(rotate, 'master', {
    summary: 'Seal all stored secrets with a new master key, while daemons run',
    options: { '--prepare': 'only write it into the key file, to copy it to other hosts first' },
    example: 'idctl key rotate master',
    run: async (call) => {
      const { listLeavingKeys, rotateMasterKey } = await operations();
      const { ids } = await call.operate(listLeavingKeys, {});
      if (ids.length > 0) await call.confirm(`${losing(ids)} Rotate?`);
      const view = await call.operate(rotateMasterKey);
      call.show(view, rotated);
      call.note(view.state === 'prepared' ? call.here(advice.prepared) : advice[view.state]);
    },
  });
  verb(rotate, 'signing', {
    summary: 'Sign sessions with a new key; sessions go on',
    example: 'idctl key rotate signing',
    run: async (call) => {
      const { rotateSigningKey } = await operations();
      call.show(await call.operate(rotateSigningKey), made);
      call.note('The old key verifies until the last token that it signed has ended.');
    },
  });
}
