import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type ConnectionKindName, connectionKindNames } from '../../connection-kinds.ts';
import { Refusal, refuseField } from '../../errors.ts';
import { accessHint, fileFault } from '../../host/file-fault.ts';
import { org, verb } from '../command.ts';
import { tellWaiting } from '../connection.ts';
import type { DocumentFile } from '../document-file.ts';
import { fillOrganization } from '../organization.ts';
import { type PlanView, planLines, planSummary, sourceLines } from '../plan-text.ts';
import type { Call } from '../run.ts';
import { pendingResult } from '../steps.ts';

const operations = () => import('../../services/provisioning/document/operations.ts');

export function addExportCommand(program: Command): void {
  verb(program, 'export', {
    summary: 'Print an organization as a YAML document, without secrets',
    required: org,
    options: { '-o, --output <file>': 'write it to this file' },
    example: 'idctl export --org acme -o acme.yaml',
    run: async (call) => {
      const { exportOrganization } = await operations();
      const { writeDocument } = await import('../document-file.ts');
      const { output, ...input } = call.input;
      const { aboveCaps = [], ...document } = await call.operate(exportOrganization, input);
      for (const { section, entries, most } of aboveCaps)
        call.note(
          `${section}: ${entries} entries are above the cap of ${most}. None can be added.`,
        );
      const text = call.flags.json
        ? `${JSON.stringify({ ...document, ...(aboveCaps.length > 0 ? { aboveCaps } : {}) })}\n`
        : await writeDocument(document);
      if (typeof output !== 'string') return call.print(text);
      await writeFile(output, text).catch((cause: unknown) => {
        throw refuseField(
          '--output',
          `${output} ${fileFault(cause, 'written')}`,
          accessHint(cause),
        );
      });
      call.note(`Written to ${output}.`);
    },
  });
}

export function addSchemaCommand(program: Command): void {
  verb(program, 'schema', {
    summary: 'Print the JSON Schema of the document of an organization',
    example: 'idctl schema > organization.schema.json',
    run: async (call) => {
      const { describeDocument } = await import('../../services/provisioning/document/schema.ts');
      call.print(`${JSON.stringify(describeDocument(), null, 2)}\n`);
    },
  });
}

const file = { '-f, --file <file>': 'the YAML document; - reads standard input' };
const options = {
  '--org <org>': 'the organization, if the document does not name it',
  '--prune': 'also remove what the document does not list',
  '--secrets <dir>': 'a folder that {file} may name, besides the folder of the document',
  '--allow-env <name...>':
    'a variable that {env} may name, besides IDCTL_SECRET_*; can be repeated',
};

const exitCodes = `Exit codes: 0 in sync, 8 changes, blocked changes or secrets that were not
compared, 2 an error in the document, 1 refused.`;

export function addPlanCommand(program: Command): void {
  verb(program, 'plan', {
    summary: 'Show what an apply of a document would change',
    detail: `It also shows who would lose access, and writes nothing.\n\n${exitCodes}`,
    required: file,
    options: {
      ...options,
      '--with-secrets': 'on a remote server: send the secrets, to compare them',
    },
    example: 'idctl plan -f acme.yaml',
    run: async (call) => {
      const withheld = call.server !== null && call.input['withSecrets'] !== true;
      const given = await readFile(call, withheld);
      const plan = await planOf(call, given);
      show(call, plan, given);
      if (plan.notCompared.length > 0)
        call.note(`To compare the secrets, add --with-secrets. This sends them to ${call.server}.`);
      if (isPending(plan) || plan.changes.length > 0) throw pendingResult();
    },
  });
}

export function addApplyCommand(program: Command): void {
  verb(program, 'apply', {
    summary: 'Change an organization to match its document',
    detail: `It shows the plan and asks. It then makes all changes or none. On a remote
server, it also asks before it sends the secrets of the document.\n
Exit codes: 0 done, 8 done except blocked changes, 2 an error in the document,
1 refused.`,
    required: file,
    options,
    rehearsable: true,
    example: 'idctl apply -f acme.yaml --yes',
    run: async (call) => {
      const { dryRun, json } = call.flags;
      let given = await readFile(call, call.server !== null);
      let plan = await planOf(call, given);
      if (!dryRun && plan.notCompared.length > 0) {
        await askToSend(call, given);
        given = { ...given, withheld: false };
        plan = await planOf(call, given);
      }
      if (!dryRun && (await verifyAwaited(call, plan))) plan = await planOf(call, given);
      if (dryRun || plan.changes.length === 0) {
        show(call, json && !dryRun ? { ...plan, applied: true } : plan, given);
        if (dryRun) call.note('Dry run: nothing was changed.');
      } else {
        await perform(call, plan, given);
      }
      if (isPending(plan)) throw pendingResult();
    },
  });
}

/** Whether the plan is not final: a part is blocked, or a secret was not compared. */
function isPending({ blocked, notCompared }: PlanView): boolean {
  return blocked.length + notCompared.length > 0;
}

interface PlanOptions {
  read: DocumentFile;
  prune: unknown;
  /** Whether the secrets stay on this machine. */
  withheld: boolean;
}

function inputOf(call: Call, { read, prune, withheld }: PlanOptions): Record<string, unknown> {
  return { org: call.input['org'], document: read.document(withheld), prune };
}

/** Asks before the secrets of the document leave this machine (security X12). */
async function askToSend(call: Call, { read: { sources } }: PlanOptions): Promise<void> {
  if (!call.flags.yes) call.note(sourceLines(sources).slice(1).join('\n'));
  const fields = sources.map(({ field }) => field).join(' and ');
  await call.confirm(`Send ${fields} to ${call.server}?`);
}

async function perform(call: Call, plan: PlanView, given: PlanOptions): Promise<void> {
  const { applyOrganization } = await operations();
  if (!call.flags.json) show(call, plan, given);
  const summary = planSummary(plan);
  await call.confirm(`Apply this plan? ${summary}`);
  const { digest } = plan;
  const applied = await call
    .operate(applyOrganization, { ...inputOf(call, given), digest })
    .catch((error: unknown) => {
      throw given.read.place(error);
    });
  if (call.flags.json) show(call, applied, given);
  call.note('Applied.');
  await tellConnectionsWaiting(call, plan);
}

/** Notes which of the changed connections wait for the approval of an owner (security I8). */
async function tellConnectionsWaiting(call: Call, { changes }: PlanView): Promise<void> {
  if (call.flags.json) return;
  const org = { org: call.input['org'] };
  for (const kind of connectionKindNames)
    if (changes.some(({ section, action }) => section === kind && action !== 'remove'))
      await tellWaiting(call, kind, await showing[kind](call, org));
}

type Show = (call: Call, org: Record<string, unknown>) => Promise<{ approved: boolean }>;

const showing: Record<ConnectionKindName, Show> = {
  sso: async (call, org) =>
    call.operate((await import('../../services/tenancy/sso/operations.ts')).showSso, org),
  ldap: async (call, org) =>
    call.operate((await import('../../services/tenancy/ldap/operations.ts')).showLdap, org),
};

/** Reads the document that the command names, and finds its organization. */
async function readFile(call: Call, withheld: boolean): Promise<PlanOptions> {
  const { readDocument } = await import('../document-file.ts');
  const { file, prune = false, org, secrets, allowEnv } = call.input;
  const read = await readDocument(String(file), {
    secrets: typeof secrets === 'string' ? secrets : undefined,
    allowEnv: Array.isArray(allowEnv) ? allowEnv.map(String) : [],
    config: call.flags.config,
  });
  call.input['org'] = org ?? slugIn(read.document(true));
  await fillOrganization(call);
  return { read, prune, withheld };
}

/** Plans the document. Faults of the document name the file and the line. */
async function planOf(call: Call, given: PlanOptions): Promise<PlanView> {
  const { read } = given;
  const { planOrganization } = await operations();
  const nothing = new Refusal('invalid_input', '', { faults: read.faults });
  const plan = await call
    .operate(planOrganization, inputOf(call, given))
    .catch((error: unknown) => {
      throw read.place(error);
    });
  if (read.faults.length > 0) throw read.place(nothing);
  return plan;
}

/** If the plan waits for a domain, looks up all TXT records. Returns whether it verified one. */
async function verifyAwaited(call: Call, plan: PlanView): Promise<boolean> {
  if (plan.blocked.every(({ code }) => code !== 'domain_unverified')) return false;
  const { listDomains, verifyDomain } = await import(
    '../../services/tenancy/domains/operations.ts'
  );
  const { org } = call.input;
  let verified = false;
  for (const { domain, state } of await call.every(listDomains, { org })) {
    if (state === 'Verified') continue;
    try {
      await call.operate(verifyDomain, { org, domain });
      call.note(`Verified ${domain}: its TXT record is published.`);
      verified = true;
    } catch (error) {
      // The plan names the domain that is still pending.
      if (!(error instanceof Refusal) || !['pending', 'upstream'].includes(error.kind)) throw error;
    }
  }
  return verified;
}

function slugIn(document: unknown): string | undefined {
  if (typeof document !== 'object' || document === null || !('organization' in document)) return;
  const { organization } = document;
  if (typeof organization !== 'object' || organization === null || !('slug' in organization))
    return;
  return typeof organization.slug === 'string' ? organization.slug : undefined;
}

function show(
  call: Call,
  plan: PlanView & { applied?: true },
  { read: { sources } }: PlanOptions,
): void {
  if (call.flags.json) {
    call.show({ ...plan, secrets: sources }, []);
    return;
  }
  const lines = planLines(plan, String(call.input['org']), sources);
  if (lines.length > 0) call.print(`${lines.join('\n')}\n`);
  call.note(planSummary(plan));
}
