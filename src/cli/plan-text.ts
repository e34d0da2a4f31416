import type { z } from 'zod';
import type { planView } from '../services/provisioning/document/changes.ts';
import { escaped } from '../text/escape.ts';
import { commandLine } from './command-line.ts';
import type { SecretSource } from './document-secrets.ts';
import { commandText, here } from './next.ts';

export type PlanView = z.output<typeof planView>;
type Change = PlanView['changes'][number];

const signs = { add: '+', change: '~', remove: '-' };

/** The plan for an organization, as lines that a person reads. */
export function planLines(
  { changes, kept, losing, blocked, notCompared }: PlanView,
  org: string,
  sources: readonly SecretSource[],
): string[] {
  const lines = [
    ...changes.map((change) =>
      escaped(`${signs[change.action]} ${nameOf(change)}${fieldsOf(change)}`),
    ),
    ...sourceLines(sources, notCompared),
    ...part(
      'Kept, although the document does not list them (--prune removes them):',
      kept.map(nameOf),
    ),
    ...part('Loses access:', losing.map(losingText)),
    ...part(
      'Blocked:',
      blocked.flatMap((one) => [
        `${nameOf(one)}: ${one.message}`,
        `  hint: ${commandText(one.hint)}`,
      ]),
    ),
    ...part(
      'After the apply, run these commands. Each creates a secret and shows it once:',
      secretsMade(changes, org),
    ),
  ];
  return lines[0] === '' ? lines.slice(1) : lines;
}

/** The sources of a document's secrets, as lines that a person reads. */
export function sourceLines(
  sources: readonly SecretSource[],
  notCompared: readonly string[] = [],
): string[] {
  const lines = sources.map(({ field, host, ...from }) => {
    const source = 'env' in from ? `the variable ${from.env}` : `the file ${from.file}`;
    const mark = notCompared.includes(field) ? ' (not compared)' : '';
    return `${field} for ${host}, from ${source}${mark}`;
  });
  return part('Secrets, with the host that will receive each:', lines);
}

/** One sentence about a plan. */
export function planSummary({ changes, blocked, notCompared }: PlanView): string {
  const open = notCompared.length;
  const secrets = open === 0 ? '' : `, ${open} ${open === 1 ? 'secret' : 'secrets'} not compared`;
  if (changes.length + blocked.length === 0)
    return open === 0 ? 'In sync: nothing to change.' : `Nothing to change${secrets}.`;
  const count = (action: Change['action']) =>
    changes.filter((change) => change.action === action).length;
  const waiting = blocked.length === 0 ? '' : `, ${blocked.length} blocked`;
  return `${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove${waiting}${secrets}.`;
}

function part(title: string, lines: string[]): string[] {
  // A line break in a name would add a line that idctl did not write (security X9).
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${escaped(line)}`)];
}

function nameOf({ section, key }: { section: string; key: string }): string {
  return section === key ? section : `${section} ${key}`;
}

function fieldsOf({ action, fields = [] }: Change): string {
  if (fields.length === 0) return '';
  const told = fields.map((one) => {
    if ('changed' in one) return `${one.field} ${action === 'add' ? 'set' : 'changed'}`;
    if (action === 'add') return `${one.field} ${text(one.to)}`;
    if (action === 'remove') return `${one.field} ${text(one.from)}`;
    return `${one.field} ${text(one.from)} to ${text(one.to)}`;
  });
  return `: ${told.join(', ')}`;
}

function text(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' && value !== '' ? value : JSON.stringify(value);
}

function losingText({ email, project, from, to }: PlanView['losing'][number]): string {
  const where = project === undefined ? '' : ` in ${project}`;
  return `${email}${where}: ${from} to ${to ?? 'none'}`;
}

/** The commands that show new secrets, because the answer of an apply does not contain them. */
function secretsMade(changes: Change[], org: string): string[] {
  const added = changes.filter(({ action }) => action === 'add');
  const webhooks = added.some(({ section }) => section === 'webhooks');
  const clients = changes.filter((change) => change.section === 'clients' && usesSecret(change));
  return [
    ...(webhooks ? [here('idctl webhook rotate ID')] : []),
    ...clients.map(({ key }) => here(commandLine('idctl client rotate', key, `--org ${org}`))),
  ];
}

/** Whether the client now needs a secret. Forward auth and public clients do not. */
function usesSecret({ action, fields = [] }: Change): boolean {
  const changed = new Map(
    fields.flatMap((one) => ('to' in one ? [[one.field, one] as const] : [])),
  );
  const [isPublic, uris] = [changed.get('public')?.to, changed.get('redirectUris')];
  const beginsToRedirect = uris !== undefined && isEmpty(uris.from);
  return action !== 'remove' && (isPublic === false || (beginsToRedirect && isPublic !== true));
}

function isEmpty(list: unknown): boolean {
  return list === null || (Array.isArray(list) && list.length === 0);
}
