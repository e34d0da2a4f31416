import type { listActivity } from '../../../services/foundation/events/activity.ts';
import { erased } from '../../../services/foundation/events/erase.ts';
import { type EventName, eventKinds } from '../../../services/foundation/events/kinds.ts';
import { type Html, html } from '../html.ts';
import { eventWords, type Told } from './event-words.ts';

type Activity = Awaited<ReturnType<typeof listActivity>>;
type Event = Activity['items'][number];
type Person = { id: string; name: string | undefined };

/**
 * The sentence about an event. The name of a person is a link to their events in the activity at
 * `path`. The names are those of the members and projects that the event has by id.
 */
export function sentenceOf(event: Event, names: Activity['names'], path: string): Html {
  const { kind, actor, subject } = event;
  const words = wordsOf(kind);
  const data = kindOf(kind)?.data.safeParse(event.data);
  // An event that an older or newer version wrote may have other data, or another kind.
  if (words === undefined || !data?.success)
    return html`${aboutOf(kind) ?? `Something happened that this version cannot describe (${kind})`}.`;
  const linked = ({ id, name }: Person, unknown: string) => {
    const known = name === undefined || name === erased ? unknown : name;
    return html`<a href="${`${path}?${new URLSearchParams({ person: id })}`}">${known}</a>`;
  };
  const subjectAs = (unknown: string) => {
    if (subject === null) return html``;
    const { type, id, name } = subject;
    return type === 'user' ? linked({ id, name }, unknown) : html`${name ?? id}`;
  };
  const first = subjectAs('A former member');
  const acts = subject?.type === 'user' && (actor.kind === 'anonymous' || actor.id === subject.id);
  return words({
    data: data.data as never,
    by: acts ? first : byOf(actor, linked),
    of: subjectAs('a former member'),
    subject: first,
    isOwn: acts,
    account: (id) => linked({ id, name: names.get(id) }, 'A former member'),
    project: (id) => names.get(id) ?? 'a deleted project',
  });
}

function byOf(
  { kind, id, name }: Event['actor'],
  linked: (person: Person, unknown: string) => Html,
): Html {
  if (kind === 'user' && id !== undefined) return linked({ id, name }, 'A former member');
  if (kind === 'app') return html`The app ${name}`;
  // The name is the address, if the link is for one.
  if (kind === 'setupLink')
    return html`The holder of a setup link${name?.includes('@') && ` (${name})`}`;
  const others: Record<string, string> = {
    operator: 'The operator of this service',
    scim: 'Your directory (SCIM)',
    system: 'This service',
  };
  return html`${others[kind] ?? 'Someone'}`;
}

/** What the documentation says about a kind; undefined for an unknown one. */
export function aboutOf(kind: string): string | undefined {
  return kindOf(kind)?.about;
}

function kindOf(kind: string): (typeof eventKinds)[EventName] | undefined {
  const kinds: Partial<Record<string, (typeof eventKinds)[EventName]>> = eventKinds;
  return Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
}

function wordsOf(kind: string): ((told: Told<never>) => Html) | undefined {
  const words: Partial<Record<string, (told: Told<never>) => Html>> = eventWords;
  return Object.hasOwn(words, kind) ? words[kind] : undefined;
}
