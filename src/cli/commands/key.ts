import type { Command } from 'commander';
import type { z } from 'zod';
import type {
  foreseenKeyView,
  keyView,
  newKeyView,
  newMasterKeyView,
} from '../../services/foundation/keys/operations.ts';
import type { newSamlKeysView } from '../../services/foundation/keys/saml-key.ts';
import { noun, verb } from '../command.ts';
import type { Fields } from '../output.ts';

const operations = () => import('../../services/foundation/keys/operations.ts');
const samlOperations = () => import('../../services/foundation/keys/saml-key.ts');

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

const samlMade: Fields<z.output<typeof newSamlKeysView>> = [
  ['Signing', (view) => view.signing],
  ['Encryption', (view) => view.encryption],
  ['Signs from', (view) => view.signsFrom],
];

type Rotated = z.output<typeof newMasterKeyView>;

const rotated: Fields<Rotated> = [
  ['ID', (view) => view.id],
  ['State', (view) => view.state],
  ['Former', (view) => view.former],
  ['Secrets sealed again', (view) => view.resealed],
];

const advice: Record<Rotated['state'], string> = {
  rotated:
    'The key file contains the new key and the former key. Earlier backups need the former\nkey, which the next rotation removes. Keep a copy of the file apart from the backups.',
  prepared:
    'The key file contains the new key. Copy the file to every host of this database, then run:\n  idctl key rotate master',
  finished: 'An earlier rotation was interrupted. It is finished now, and no new key was created.',
};

type Foreseen = z.output<typeof foreseenKeyView>;

const foreseen: Fields<Foreseen> = [
  ['State', (view) => view.state],
  ['Former', (view) => view.former],
  ['Leaves the file', (view) => view.leaving],
];

function questionOf({ leaving }: Foreseen): string {
  const lost =
    leaving.length === 0
      ? ''
      : `The key ${leaving.join(', ')} leaves the key file. Backups made with it will open only with your own copy of it. `;
  return `${lost}Replace the master key?`;
}

export function addKeyCommands(program: Command): void {
  const key = noun(program, 'key', {
    summary: 'The master key, and the keys for sessions and SAML',
    example: 'idctl key list',
  });
  verb(key, 'list', {
    summary: 'List the keys with their purpose and state',
    example: 'idctl key list',
    run: async (call) => call.list((await operations()).listKeys, row, 'There are no keys.'),
  });
  const rotate = noun(key, 'rotate', {
    summary: 'Replace a key',
    example: 'idctl key rotate signing --yes',
  });
  verb(rotate, 'master', {
    summary: 'Seal all stored secrets with a new master key, while daemons run',
    options: {
      '--prepare': 'only write the new key to the key file, to copy it to other hosts first',
    },
    rehearsable: true,
    example: 'idctl key rotate master --yes',
    run: async (call) => {
      const { foreseeMasterKey, rotateMasterKey } = await operations();
      // A dry run of the rotation itself would replace the key file.
      const plan = await call.operate(foreseeMasterKey);
      if (call.flags.dryRun) {
        call.note('Dry run: nothing was changed.');
        return call.show(plan, foreseen);
      }
      if (plan.state !== 'finished') await call.confirm(questionOf(plan));
      const view = await call.operate(rotateMasterKey);
      call.show(view, rotated);
      call.note(view.state === 'prepared' ? call.here(advice.prepared) : advice[view.state]);
    },
  });
  verb(rotate, 'signing', {
    summary: 'Sign sessions with a new key; existing sessions continue',
    rehearsable: true,
    example: 'idctl key rotate signing --yes',
    run: async (call) => {
      const { rotateSigningKey } = await operations();
      const { dryRun } = call.flags;
      if (!dryRun)
        await call.confirm('Replace the key that signs sessions? Existing sessions continue.');
      await call.perform(rotateSigningKey, made);
      if (!dryRun)
        call.note('The old key still verifies the tokens that it signed, until they expire.');
    },
  });
  verb(rotate, 'saml', {
    summary: 'Create new keys for SAML providers; the old ones stay for 30 days',
    options: {
      '--immediately': 'retire the old keys now; providers need the new metadata immediately',
    },
    rehearsable: true,
    example: 'idctl key rotate saml --yes',
    run: async (call) => {
      const { rotateSamlKeys } = await samlOperations();
      const { dryRun } = call.flags;
      if (!dryRun)
        await call.confirm(samlQuestion[call.input['immediately'] === true ? 'now' : 'later']);
      await call.perform(rotateSamlKeys, samlMade);
      if (!dryRun)
        call.note('Give the new metadata of idctl to every SAML provider that does not read it.');
    },
  });
}

const samlQuestion = {
  now: 'Retire the keys for SAML providers now? Sign-ins can fail until each provider has the new metadata.',
  later:
    'Create new keys for SAML providers? After 30 days, requests are signed with the new key only.',
};
