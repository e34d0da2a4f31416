import { type Finding, found, right, type Take, wrong } from '../../../../../finding.ts';
import type { DirectoryEntry, DirectoryQuery } from '../../../../../outbound/outbound.ts';
import { openFilter } from '../../../../tenancy/ldap/filter.ts';
import {
  attributesOf,
  type DirectoryPerson,
  onePerson,
  personQuery,
  type Reading,
  textsOf,
} from '../person.ts';
import { type Ask, refusedWith } from './finding.ts';
import { searchWords } from './words.ts';

/** The entries that the filter finds: a sample, and the person with the tested user name. */
interface People {
  sample: DirectoryEntry[];
  person: DirectoryPerson | null;
  /** The entry of that person. */
  entry: DirectoryEntry | null;
}

type Trial = Reading & { username: string | undefined };

const sampleSize = 10;

/**
 * Runs the steps about people: the filter, their attributes, and a count. Null if one of them
 * failed.
 */
export async function lookAtPeople(ask: Ask, trial: Trial, step: Take): Promise<People | null> {
  const one = trial.username !== undefined;
  const filtered = await step(
    'filter',
    one ? 'exactly one entry of this user name' : 'people',
    () => lookThroughFilter(ask, trial),
  );
  if (!filtered.ok) return null;
  const { sample, entry } = filtered.value;
  const { emailAttribute, givenNameAttribute, familyNameAttribute } = trial;
  const named = [emailAttribute, givenNameAttribute, familyNameAttribute];
  const attributes = await step('attributes', named.join(', '), async () =>
    lookAtAttributes(entry === null ? sample : [entry], named, trial.groupsAttribute),
  );
  if (!attributes.ok) return null;
  await step('sample entries', 'some that may be read', async () =>
    right(sample.length === sampleSize ? `${sampleSize}, or more` : `${sample.length}`),
  );
  return filtered.value;
}

async function lookThroughFilter(ask: Ask, trial: Trial): Promise<Finding<People>> {
  const sampled = await ask(sampleQuery(trial));
  if (!sampled.ok) return refusedWith(sampled);
  const sample = sampled.value.entries.slice(0, sampleSize);
  if (trial.username === undefined) {
    if (sample.length === 0) return { ok: false, ...searchWords.nobody };
    return found({ sample, person: null, entry: null }, 'it finds people');
  }
  const answer = await ask(personQuery(trial, trial.username));
  if (!answer.ok) return refusedWith(answer);
  const one = onePerson(answer.value, trial);
  if (!one.ok) return { ok: false, ...searchWords[one.reason] };
  return found(
    { sample, person: one.person, entry: answer.value.entries[0] ?? null },
    'exactly one entry',
  );
}

function sampleQuery(trial: Trial): DirectoryQuery {
  const { searchBase: base, searchFilter } = trial;
  return {
    base,
    scope: 'sub',
    filter: openFilter(searchFilter),
    attributes: attributesOf(trial),
    limit: sampleSize,
  };
}

/** Each attribute must be in at least one entry; the groups attribute may be in none of them. */
function lookAtAttributes(
  entries: DirectoryEntry[],
  named: string[],
  groups: string | null,
): Finding {
  const isThere = (attribute: string) =>
    entries.some((entry) => textsOf(entry, attribute).length > 0);
  const missing = named.filter((attribute) => !isThere(attribute));
  if (missing.length > 0) {
    return wrong(
      `nothing in ${missing.join(', ')}`,
      'Name the attributes as the directory does, and let the service account read them.',
    );
  }
  if (groups === null || isThere(groups)) return right('all there');
  return found(
    null,
    'all there',
    `None of these entries has ${groups}: no entry is in a group, or the attribute has another name.`,
  );
}
