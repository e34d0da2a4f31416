import type { Command } from 'commander';
import type { z } from 'zod';
import type { explainView } from '../../services/signin/explain/operations.ts';
import { org, verb } from '../command.ts';
import { commandText } from '../next.ts';
import type { Fields } from '../output.ts';
import type { Call } from '../run.ts';

type Explained = z.output<typeof explainView>;
type Next = NonNullable<Explained['next']>;

const could = (value: boolean | null) => (value === null ? 'not shown' : value ? 'yes' : 'no');

const ways: Fields<Explained['ways'][number]> = [
  ['Method', (way) => way.method, 'whole'],
  ['On', (way) => way.on, 'whole'],
  ['Works', (way) => could(way.could), 'whole'],
  ['Why', (way) => way.rule, 'broken'],
];

const blocksUnder = (heading: string): Fields<Explained['blocks'][number]> => [
  ['Until', (block) => block.until, 'whole'],
  [heading, (block) => commandText(block.message), 'broken'],
];

const facts: Fields<readonly [about: string, found: string | string[]]> = [
  ['Person', ([about]) => about, 'whole'],
  ['Found', ([, found]) => found, 'broken'],
];

function factsOf({ member, keptGroups, projects, next, attempts }: Explained) {
  const absent = keptGroups === null ? 'no' : 'no: SCIM shows the person as deactivated';
  return [
    ['Member', member === null ? absent : `${member.role} (${originText(member.origin)})`],
    ['Projects', fewOf(projects.map(projectText))],
    ['Next sign-in', next === null ? unknownText(keptGroups) : nextText(next)],
    ['Attempts', attempts === null ? 'not shown' : attempts.map(triesText)],
  ] as const;
}

export function addExplainCommand(program: Command): void {
  verb(program, 'explain <user>', {
    summary: 'Explain how a person could sign in, and what keeps them out',
    detail:
      'The command assumes that the password and codes are correct. It also assumes that a provider or directory sends the same address and identity as before. The command changes nothing and does not contact a provider.',
    required: org,
    options: { '--project <project>': 'only this project, by id or slug' },
    example: 'idctl explain ada@acme.com --org acme',
    run: async (call) => {
      const { explain } = await import('../../services/signin/explain/operations.ts');
      const view = await call.operate(explain);
      if (call.flags.json) call.show(view, []);
      else tellExplained(call, view);
    },
  });
}

function unknownText(keptGroups: string[] | null): string {
  if (keptGroups === null) return 'unknown: no groups yet';
  const kept = keptGroups.length === 0 ? 'no groups' : fewOf(keptGroups).join(', ');
  return `does not give a role. Activate the person in the SCIM client; SCIM keeps ${kept}`;
}

/** Prints the explanation as tables, on one screen. */
export function tellExplained(
  { table, print }: Pick<Call, 'table' | 'print'>,
  view: Explained,
): void {
  table(view.ways, ways, '');
  print('\n');
  table([...factsOf(view)], facts, '');
  if (view.blocks.length === 0) return;
  print('\n');
  const isIn = view.ways.some(({ could }) => could === true);
  const heading = isIn ? 'The person can sign in, but' : 'What keeps the person out';
  table(view.blocks, blocksUnder(heading), '');
}

/** The maximum number of projects or changes on a line, so that the answer fits on a screen. */
const maxNamed = 3;

function fewOf(texts: string[]): string[] {
  const more = texts.length - maxNamed;
  return more > 0 ? [...texts.slice(0, maxNamed), `and ${more} more`] : texts;
}

function projectText({ slug, role, origin }: Explained['projects'][number]): string {
  return `${slug}: ${role} (${originText(origin)})`;
}

function originText({ kind, group, source }: Explained['projects'][number]['origin']): string {
  if (group === undefined) return kind;
  return `from the ${source === 'scim' ? 'SCIM ' : ''}group ${group}`;
}

function nextText({ adds, changes, removes, orgRole }: Next): string | string[] {
  const inOrganization =
    orgRole === null ? [] : [`change the organization: ${orgRole.from} to ${orgRole.to}`];
  const texts = [
    ...inOrganization,
    ...adds.map(({ project, role }) => `add ${project.slug}: ${role}`),
    ...changes.map(({ project, from, to }) => `change ${project.slug}: ${from} to ${to}`),
    ...removes.map(({ project }) => `remove ${project.slug}`),
  ];
  return texts.length === 0 ? 'does not change a role' : fewOf(texts);
}

const triesOf = {
  password: 'password',
  secondFactor: 'second factor',
  mail: 'mails',
  ldap: 'ldap',
};

function triesText({ of, network, used, most }: NonNullable<Explained['attempts']>[number]) {
  return `${triesOf[of]} ${used} of ${most}${network === null ? '' : ` from ${network}`}`;
}
