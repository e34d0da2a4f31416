import {
  type Finding,
  found,
  right,
  type Step,
  stepOf,
  type Take,
  takingSteps,
  wrong,
} from '../../../../finding.ts';
import type {
  DirectoryAccount,
  DirectoryClient,
  DirectoryEntry,
  DirectoryQuery,
} from '../../../../outbound/directory/directory.ts';
import { parentsOf } from '../../../tenancy/ldap/dn.ts';
import { openFilter } from '../../../tenancy/ldap/filter.ts';
import {
  attributesOf,
  type DirectoryPerson,
  onePerson,
  personQuery,
  type Reading,
  textsOf,
} from '../../../tenancy/ldap/find-person.ts';
import { type Ask, reasonWords, refusedWith, searchWords, unreached } from './words.ts';

/** The subject of an examination: the settings, the service account, and the user to try. */
export interface Trial extends Reading {
  uri: string;
  tls: boolean;
  account: DirectoryAccount;
  username: string | undefined;
  password: string | undefined;
  /** Called with the person before their password is tried; it may refuse. */
  proving: (person: DirectoryPerson) => Promise<void>;
}

/** The result of an examination; it ends with the first step that fails. */
export interface DirectoryExamination {
  steps: Step[];
  /** How many sample entries were returned; undefined if the examination ended before. */
  entries: number | undefined;
  /** The person with the user name and password, if both were tried and right. */
  person: DirectoryPerson | null;
}

/** Examines a directory step by step (spec §4.2, security L9). A failed step does not throw. */
export async function examineDirectory(
  visit: DirectoryClient,
  trial: Trial,
): Promise<DirectoryExamination> {
  const { steps, take: step } = takingSteps(async (look) => {
    try {
      return await look();
    } catch (error) {
      return unreached(error).finding;
    }
  });
  const examination: DirectoryExamination = { steps, entries: undefined, person: null };
  if (!(await greet(visit, trial, steps))) return examination;
  const ask: Ask = (query) => visit.search(trial.account, query);
  if (!(await lookAtBase(ask, trial, step))) return examination;
  const people = await lookAtPeople(ask, trial, step);
  if (people === null) return examination;
  examination.entries = people.sample.length;
  const { person } = people;
  const { password } = trial;
  if (person === null || password === undefined) return examination;
  await trial.proving(person);
  const proved = await step('password', 'the directory accepts it for this entry', async () => {
    const answer = await visit.prove({ dn: person.dn, password });
    return answer.ok ? right('accepted') : refusedWith(answer);
  });
  return { ...examination, person: proved.ok ? person : null };
}

const greetings = [
  ['name', 'a host that connections may reach'],
  ['connection', 'the server accepts it'],
  ['TLS', 'a trusted certificate for this host, valid now'],
] as const;

/** Takes the first three steps with one connection. At most one of them fails. */
async function greet(visit: DirectoryClient, { uri, tls }: Trial, steps: Step[]): Promise<boolean> {
  const greeted = await visit.greet().catch(unreached);
  const until =
    'validUntil' in greeted ? greeted.validUntil?.toISOString().slice(0, 10) : undefined;
  const host = uri.replace(/^ldaps?:\/\/|:\d+$/g, '');
  const seen = {
    name: host,
    connection: 'accepted',
    TLS: tls ? `a trusted certificate, valid until ${until}` : 'none: this connection has no TLS',
  };
  for (const [name, expected] of greetings) {
    const failed = 'finding' in greeted && greeted.at === name;
    steps.push(stepOf(name, expected, failed ? greeted.finding : right(seen[name])));
    if (failed) return false;
  }
  return true;
}

async function lookAtBase(ask: Ask, { searchBase: base }: Trial, step: Take): Promise<boolean> {
  let answer: Awaited<ReturnType<Ask>> | undefined;
  const bound = await step(
    'service bind',
    'the directory accepts bind DN and password',
    async () => {
      answer = await ask(entryAt(base));
      return answer.ok || answer.at === 'search' ? right('accepted') : refusedWith(answer);
    },
  );
  if (!bound.ok || answer === undefined) return false;
  const first = answer;
  const based = await step('base', 'the search base can be read', () =>
    judgeBase(ask, base, first),
  );
  return based.ok;
}

function entryAt(base: string): DirectoryQuery {
  return { base, scope: 'base', filter: '(objectClass=*)', attributes: ['1.1'], limit: 1 };
}

/** Whether the base exists; if not, names its deepest parent that does (security L9). */
async function judgeBase(
  ask: Ask,
  base: string,
  answer: Awaited<ReturnType<Ask>>,
): Promise<Finding> {
  if (answer.ok && answer.value.entries.length > 0) return right('there');
  if (!answer.ok && answer.reason !== 'base_missing') return refusedWith(answer);
  const parent = await deepestParent(ask, base);
  const parents = parent === null ? 'none of its parents exists' : `its parent ${parent} exists`;
  const seen = `${base} does not exist, or the service account may not see it; ${parents}`;
  return answer.ok ? wrong(seen, reasonWords.base_missing.hint) : refusedWith(answer, seen);
}

/** Each parent costs another connection and bind, so a deep base is not followed to its root. */
const maxParents = 12;

async function deepestParent(ask: Ask, base: string): Promise<string | null> {
  for (const parent of parentsOf(base).slice(0, maxParents)) {
    const answer = await ask(entryAt(parent));
    if (answer.ok && answer.value.entries.length > 0) return parent;
  }
  return null;
}

/** The entries that the filter finds: a sample, and the person with the tested user name. */
interface People {
  sample: DirectoryEntry[];
  person: DirectoryPerson | null;
  /** The entry of that person. */
  entry: DirectoryEntry | null;
}

type Sought = Reading & { username: string | undefined };

const sampleSize = 10;

/** Runs the steps about people: filter, attributes and sample entries. Null if one failed. */
async function lookAtPeople(ask: Ask, trial: Sought, step: Take): Promise<People | null> {
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

async function lookThroughFilter(ask: Ask, trial: Sought): Promise<Finding<People>> {
  const sampled = await ask(sampleQuery(trial));
  if (!sampled.ok) return refusedWith(sampled);
  const sample = sampled.value.entries.slice(0, sampleSize);
  if (trial.username === undefined) {
    if (sample.length === 0) return { ok: false, ...searchWords.empty };
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

function sampleQuery(trial: Sought): DirectoryQuery {
  const { searchBase: base, searchFilter } = trial;
  return {
    base,
    scope: 'sub',
    filter: openFilter(searchFilter),
    attributes: attributesOf(trial),
    limit: sampleSize,
  };
}

/** Each attribute must be in at least one entry, except the groups attribute. */
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
