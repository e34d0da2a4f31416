import type { Command } from 'commander';
import type { z } from 'zod';
import type { statusView } from '../../services/instance/status.ts';
import { verb } from '../command.ts';
import { warnOfFileOwners } from '../file-owners.ts';
import { commandText } from '../next.ts';
import { configurationFile } from '../older-daemon.ts';
import { isDatabaseIdle } from '../operator.ts';
import { type Fields, masked } from '../output.ts';
import type { Call } from '../run.ts';
import { failedResult } from '../steps.ts';

interface View extends z.output<typeof statusView> {
  configFile: string | null;
  databaseUrl: string;
}

type Organization = View['organizations'][number];

/** The maximum number of organizations in the list, so that the answer fits on a screen. */
const maxShown = 12;

const instance: Fields<View> = [
  ['Version', (view) => view.version],
  ['Configuration', (view) => view.configFile ?? 'defaults and environment'],
  ['Address', (view) => view.baseUrl],
  ['Daemon', (view) => commandText(view.daemon.message)],
  ['Database', (view) => view.databaseUrl],
  ['Size', ({ database }) => `${inUnits(database.bytes)}, schema ${database.schema}`],
  ['Mail', (view) => (view.mail ? 'on' : 'off: no mail is sent')],
  ['People', (view) => `${view.people}, live sessions: ${view.sessions}`],
];

const row: Fields<Organization> = [
  ['Organization', (view) => view.slug],
  ['Members', (view) => view.members],
  ['Owners', (view) => view.owners],
  [
    'Domains',
    ({ domains }) => `${domains.verified}${domains.pending > 0 ? ` +${domains.pending}` : ''}`,
  ],
  ['SSO', (view) => unlessNone(view.sso)],
  ['LDAP', (view) => unlessNone(view.ldap)],
  ['SCIM', (view) => unlessNone(view.scim)],
  ['Last sign-in', (view) => view.lastSignInAt?.slice(0, 10)],
];

export function addStatusCommand(program: Command): void {
  verb(program, 'status', {
    summary: 'Show daemon, database and organizations at a glance',
    options: { '--ready': 'exit 1 unless the daemon of this machine is ready' },
    example: 'idctl status',
    run: status,
  });
}

async function status(call: Call): Promise<void> {
  const { showStatus } = await import('../../services/instance/status.ts');
  const loaded = await call.configuration();
  const { file, config, warnings } = loaded;
  const ready = call.input['ready'] === true;
  const unowned = await warnOfFileOwners(loaded);
  const found = await call.operate(showStatus, {
    here: ready,
    idle: isDatabaseIdle(loaded),
    configuration: configurationFile(loaded),
  });
  const problems = [...warnings, ...unowned, ...found.problems];
  const view = { configFile: file, databaseUrl: masked(config.database.url), ...found, problems };
  call.show<View>(view, instance);
  if (!call.flags.json) await showMore(call, view);
  if (ready && !view.daemon.ready) throw failedResult();
}

/** Prints the organizations and the problems, below the fields of the instance. */
async function showMore(call: Call, view: View): Promise<void> {
  call.print('\n');
  call.table(view.organizations.slice(0, maxShown), row, 'There are no organizations.');
  const more = view.organizations.length - maxShown;
  if (more > 0) call.note(`and ${more} more: ${call.here('idctl org list')}`);
  const { problems } = view;
  call.print(problems.length === 0 ? '\nNo problems found.\n' : '\n');
  const { standardOutput, writeBroken } = await import('../output.ts');
  for (const problem of problems) writeBroken('! ', problem, standardOutput());
  if (problems.length > 0) call.note(`To see what to change: ${call.here('idctl doctor')}`);
}

function unlessNone(state: string): string | null {
  return state === 'none' ? null : state;
}

function inUnits(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${Math.round((bytes / 1024 ** power) * 10) / 10} ${units[power]}`;
}
