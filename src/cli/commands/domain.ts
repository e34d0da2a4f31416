import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { z } from 'zod';
import { secondsOf } from '../../config/duration.ts';
import { Refusal, refuseField } from '../../errors.ts';
import type { domainRemovedView, domainView } from '../../services/tenancy/domains/domain.ts';
import { shellWord } from '../../text/shell-word.ts';
import { noun, org, verb } from '../command.ts';
import { affectedFields, sessionsEndedField, shutOutBy } from '../consequences.ts';
import { make } from '../making.ts';
import type { Fields } from '../output.ts';
import { requireHost } from '../reach.ts';
import type { Call } from '../run.ts';

const operations = () => import('../../services/tenancy/domains/operations.ts');

type Domain = z.output<typeof domainView>;
type Removed = z.output<typeof domainRemovedView>;

const block: Fields<Domain> = [
  ['Domain', (view) => view.domain],
  ['State', (view) => view.state],
  ['Record', (view) => `${view.txtRecord.name} ${view.txtRecord.type} ${view.txtRecord.value}`],
  ['Verified', (view) => view.verifiedAt],
  ['Verified by', (view) => view.verifiedBy],
];

const row: Fields<Domain> = [
  ['Domain', (view) => view.domain, 'whole'],
  ['State', (view) => view.state],
  ['TXT record', (view) => view.txtRecord.value, 'whole'],
  ['By', (view) => view.verifiedBy],
];

const removed: Fields<Removed> = [
  ['Domain', (view) => view.domain],
  ['SSO disabled', (view) => view.ssoDisabled],
  ['Owners', (view) => view.owners],
  ...affectedFields,
  sessionsEndedField,
];

export function addDomainCommands(program: Command): void {
  const domain = noun(program, 'domain', {
    summary: 'E-mail domains of an organization',
    example: 'idctl domain list --org acme',
  });
  verb(domain, 'add <domain>', {
    summary: 'Claim a domain and get the TXT record that proves it',
    required: org,
    options: { '--override': 'allow public suffixes and mail providers; host only' },
    makes: true,
    example: 'idctl domain add acme.com --org acme',
    run: add,
  });
  verb(domain, 'verify <domain>', {
    summary: 'Look up the TXT record; exit 8 while it is missing',
    required: org,
    options: {
      '--wait': 'repeat until the record is found',
      '--timeout <time>': 'how long to wait, such as 30s, 10m, 2h (default: 10m)',
      '--assert': 'mark it verified without a DNS lookup; host only',
    },
    example: 'idctl domain verify acme.com --org acme --wait --timeout 30m',
    run: async (call) => call.show(await verify(call), block),
  });
  verb(domain, 'list', {
    summary: 'List the domains and their TXT records',
    required: org,
    example: 'idctl domain list --org acme',
    run: async (call) => call.list((await operations()).listDomains, row, 'There are no domains.'),
  });
  verb(domain, 'remove <domain>', {
    summary: 'Give up a domain, and disable single sign-on that relies on it',
    required: org,
    destroys: true,
    example: 'idctl domain remove acme.com --org acme --yes',
    run: async (call) => {
      const { removeDomain } = await operations();
      const shutOut = await shutOutBy(call, 'domain.remove');
      await call.destroy(removeDomain, {
        fields: removed,
        warning: shutOut,
      });
    },
  });
}

async function add(call: Call): Promise<void> {
  const { addDomain, listDomains, overrideDomain } = await operations();
  const { override, ...input } = call.input;
  if (override === true) requireHost(call, '--override');
  const { view } = await make<Domain>(call, override === true ? overrideDomain : addDomain, {
    input,
    fields: block,
    find: async ({ org, domain }) => {
      const domains = await call.every(listDomains, { org });
      return domains.find((added) => added.domain === domain);
    },
  });
  if (call.flags.dryRun || view.state === 'Verified') return;
  call.note(
    `Publish that TXT record, then:\n  ${call.here(`idctl domain verify ${shellWord(view.domain)} --org ${shellWord(String(call.input['org']))}`)}`,
  );
}

async function verify(call: Call): Promise<Domain> {
  const { assertDomain, verifyDomain } = await operations();
  const { wait, timeout, assert, ...input } = call.input;
  if (assert === true) requireHost(call, '--assert');
  if (assert === true) return call.operate(assertDomain, input);
  const once = () => call.operate(verifyDomain, input);
  const limit = seconds(timeout ?? '10m');
  return wait === true
    ? until(limit, once, (refusal) =>
        call.note(`${refusal.message.replace(/\.?$/, '.')} Retrying.`),
      )
    : once();
}

/** Repeats `look` while the record is missing or the resolver fails, up to `limit` seconds. */
async function until<View>(
  limit: number,
  look: () => Promise<View>,
  tell: (refusal: Refusal) => void,
): Promise<View> {
  const end = performance.now() + limit * 1000;
  for (let pause = 1000; ; pause = Math.min(pause * 1.5, 15_000)) {
    try {
      return await look();
    } catch (error) {
      const again =
        error instanceof Refusal && (error.kind === 'pending' || error.kind === 'upstream');
      if (!again || performance.now() + pause > end) throw error;
      if (pause === 1000) tell(error);
    }
    await sleep(pause);
  }
}

function seconds(text: unknown): number {
  const given = String(text);
  const parsed = secondsOf(/^\d+$/.test(given) ? `${given}s` : given);
  if (Number.isNaN(parsed)) throw refuseField('timeout', 'must be a time such as 30s, 10m or 2h');
  return parsed;
}
