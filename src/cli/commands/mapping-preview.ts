import type { Command } from 'commander';
import type { z } from 'zod';
import type { previewView } from '../../services/provisioning/mappings/preview.ts';
import { org, verb } from '../command.ts';
import type { Fields } from '../output.ts';

type Preview = z.output<typeof previewView>;

export function addPreview(mappings: Command): void {
  verb(mappings, 'preview', {
    summary: "Show what a person's next sign-in would do; writes nothing",
    required: org,
    options: {
      '--user <user>': 'the account, by address or id',
      '--groups <list>': 'preview with these groups, separated by commas',
      '--group <group...>': 'preview with this group; can be repeated',
      '--from-attempt <id>': 'preview with the groups of an attempt, by its id or reference',
    },
    example: 'idctl mappings preview --org acme --user ada@acme.com --groups dev,ops',
    run: async (call) => {
      const { previewMappings } = await import('../../services/provisioning/mappings/preview.ts');
      const { groups: list, group, fromAttempt, ...input } = call.input;
      const named = [
        ...(typeof list === 'string' ? list.split(',').filter(Boolean) : []),
        ...(Array.isArray(group) ? group : []),
      ];
      const given = {
        ...input,
        ...(list === undefined && group === undefined ? {} : { groups: named }),
        ...(fromAttempt === undefined ? {} : { attempt: fromAttempt }),
      };
      const plan = await call.operate(previewMappings, given);
      if (call.flags.json) return call.show(plan, []);
      call.show(plan, groups);
      call.table(lines(plan), steps, 'The next sign-in would not change anything.');
    },
  });
}

const groups: Fields<Preview> = [
  ['Groups', (plan) => plan.groups.map(({ group, source }) => `${group} (${source})`)],
];

interface Step {
  does: string;
  project: string;
  role: string;
  because: string;
}

const steps: Fields<Step> = [
  ['Does', ({ does }) => does],
  ['Project', ({ project }) => project, 'whole'],
  ['Role', ({ role }) => role],
  ['Because of', ({ because }) => because, 'broken'],
];

function lines({ adds, changes, removes, orgRole }: Preview): Step[] {
  const because = ({ because }: Pick<Preview['adds'][number], 'because'>) => {
    if (because === null) return 'no group';
    const { group, mapping, source } = because;
    return `${source === 'scim' ? 'SCIM group ' : ''}${group} (${mapping})`;
  };
  const role = orgRole && `${orgRole.from} to ${orgRole.to}`;
  const line = (does: string, entry: Preview['adds'][number], role: string = entry.role) => {
    return { does, project: entry.project.slug, role, because: because(entry) };
  };
  return [
    ...(orgRole === null || role === null
      ? []
      : [{ does: 'change', project: '(organization)', role, because: because(orgRole) }]),
    ...adds.map((entry) => line('add', entry)),
    ...changes.map((entry) => line('change', entry, `${entry.from} to ${entry.role}`)),
    ...removes.map((entry) => ({
      ...line('remove', entry),
      because: entry.because === null ? 'no group' : `no longer ${because(entry)}`,
    })),
  ];
}
