import type { z } from 'zod';
import type { planView } from '../services/provisioning/document/operations.ts';
import { commandLine } from '../shell-word.ts';

export type PlanView = z.output<typeof planView>;
type Change = PlanView['changes'][number];

const signs = { add: '+', change: '~', remove: '-' };

/** A plan as lines for a person. */
export function planLines({ changes, kept, losing, blocked }: PlanView): string[] {
  const lines = [
    ...changes.map((change) => `${signs[change.action]} ${nameOf(change)}${fieldsOf(change)}`),
    ...part('Kept, as the document does not list it; --prune removes it:', kept.map(nameOf)),
    ...part('Loses access:', losing.map(losingText)),
    ...part(
      'Blocked:',
      blocked.flatMap((one) => [`${nameOf(one)}: ${one.message}`, `  hint: ${one.hint}`]),
    ),
    ...part('To show a new secret once:', secretsMade(changes)),
  ];
  return lines[0] === '' ? lines.slice(1) : lines;
}

/** One sentence about a plan. */
export function planSummary({ changes, blocked }: PlanView): string {
  if (changes.length + blocked.length === 0) return 'In sync: nothing to change.';
  const count = (action: Change['action']) =>
    changes.filter((change) => change.action === action).length;
  const waiting = blocked.length === 0 ? '' : `, ${blocked.length} blocked`;
  return `${count('add')} to add, ${count('change')} to change, ${count('remove')} to remove${waiting}.`;
}

function part(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
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

/** An apply answers no secret that it makes. */
function secretsMade(changes: Change[]): string[] {
  const added = changes.filter(({ action }) => action === 'add');
  const webhooks = added.some(({ section }) => section === 'webhooks');
  // A client that stops being public gets a secret too.
  const clients = changes.filter((change) => change.section === 'clients' && getsSecret(change));
  return [
    ...(webhooks ? ['idctl webhook rotate ID'] : []),
    ...clients.map(({ key }) => commandLine('idctl client rotate', key)),
  ];
}

function getsSecret({ action, fields = [] }: Change): boolean {
  const [isPublic] = fields.flatMap((one) =>
    one.field === 'public' && 'to' in one ? [one.to] : [],
  );
  return action === 'add' ? isPublic !== true : action === 'change' && isPublic === false;
}
