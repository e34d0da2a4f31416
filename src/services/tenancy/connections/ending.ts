import { persons } from '../../../text/words.ts';
import { affectedOwners, type Ending, sessionsEnding } from '../../foundation/ending.ts';

interface Disabled {
  people: string[];
  owners: string[];
}
type Removed = Disabled & { sessionsEnded: number };
type InOrganization = { org: string };

/**
 * The words for switching a connection off and for removing it. `called` names its provider or
 * directory, and `relink` is the operation that links people to another one.
 */
export function endingConnection<View>(
  called: (view: View) => string,
  relink: 'sso.relink' | 'ldap.relink',
) {
  const removed = (view: Removed) => [...sessionsEnding(view), ...affectedOwners(view)];
  return {
    disabling: {
      ask: (view) => `Stop sign-ins through ${called(view)}?`,
      effects: ({ people }) => signInThrough(people),
      done: (view) => [`Stopped sign-ins through ${called(view)}.`, ...affectedOwners(view)],
    } satisfies Ending<View & Disabled, InOrganization>,
    removing: {
      ask: (view) => `Remove the connection to ${called(view)}?`,
      effects: removed,
      done: (view, { org }) => [
        `Removed the connection to ${called(view)}.`,
        ...removed(view),
        ...stayLinked(view.people, called(view)),
        ...(view.people.length === 0
          ? []
          : [{ to: 'link them to another one', operation: relink, with: { org } }]),
      ],
    } satisfies Ending<View & Removed, InOrganization>,
  };
}

function signInThrough(people: string[]): string[] {
  if (people.length === 0) return [];
  return [`${persons(people)} ${people.length === 1 ? 'signs' : 'sign'} in through it.`];
}

function stayLinked(people: string[], called: string): string[] {
  if (people.length === 0) return [];
  return [`${persons(people)} ${people.length === 1 ? 'stays' : 'stay'} linked to ${called}.`];
}
