import type { Command } from 'commander';
import type { z } from 'zod';
import { Refusal } from '../../errors.ts';
import type { attemptView } from '../../services/signin/attempts/schema.ts';
import type { affectedView } from '../../services/tenancy/sso/affected.ts';
import type {
  ssoDisabledView,
  ssoRelinkedView,
  ssoRemovedView,
  ssoView,
} from '../../services/tenancy/sso/view.ts';
import { shellWord } from '../../shell-word.ts';

import { by } from '../by.ts';
import { noun, verb } from '../command.ts';
import { tellOlderDaemon } from '../older-daemon.ts';
import { readConfiguration } from '../operator.ts';
import type { Fields } from '../output.ts';
import { askSecret, canAsk, givenSecret } from '../prompt.ts';
import type { Call } from '../run.ts';
import { persons, sessionsEndedField, sessionsEnding } from '../sessions-ended.ts';
import { agreeToShutOut, shutOutBy } from '../shut-out.ts';
import { force, requirePassed } from '../test-first.ts';

type Connection = z.output<typeof ssoView>;

const fields: Fields<Connection> = [
  ['E-mail domain', (view) => view.emailDomain],
  ['Enabled', (view) => view.enabled],
  ['Issuer', (view) => view.issuer],
  ['Client ID', (view) => view.clientId],
  ['Client secret', (view) => (view.hasClientSecret ? 'stored' : null)],
  ['Redirect URI', (view) => view.redirectUri],
  ['Groups claim', (view) => view.groupsClaim],
  ['Sync on every login', (view) => view.syncOnLogin],
  ['Auto-remove', (view) => view.autoRemove],
  ['Absent groups mean', (view) => view.absentGroups],
  ['Ignore email_verified', (view) => view.ignoreEmailVerified],
  ['Local two-factor', (view) => view.requireLocalTwoFactor],
];

const affectedFields: Fields<z.output<typeof affectedView>> = [
  ['Sign in by it', (view) => view.people],
  [
    'Synced',
    (view) => view.memberships.map(({ user, project, role }) => `${user} in ${project} as ${role}`),
  ],
];

const org = { '--org <org>': 'the organization, by id or slug' };

/** Declares `idctl sso`. */
export function addSsoCommands(program: Command): void {
  const sso = noun(
    program,
    'sso',
    'Single sign-on of an organization (OpenID Connect)',
    'idctl sso show --org acme',
  );
  addSet(sso);
  verb(sso, 'show', {
    summary: 'Show the connection, without its secret',
    required: org,
    example: 'idctl sso show --org acme',
    run: async (call) => {
      const { showSso } = await import('../../services/tenancy/sso/operations.ts');
      call.show(await call.operate(showSso), fields);
    },
  });
  verb(sso, 'enable', {
    summary: 'Let people sign in; the domain must be verified',
    required: org,
    example: 'idctl sso enable --org acme',
    detail: 'It tests the provider first, as idctl sso test does. If a step fails, it asks.',
    options: force('provider'),
    run: async (call) => {
      const { enableSso } = await import('../../services/tenancy/sso/operations.ts');

      const { force: unasked, ...input } = call.input;
      await call.rehearse(enableSso, input);
      if (unasked !== true) await requireUsable(call, input);
      call.show(await call.operate(enableSso, input), fields);
    },
  });
  verb(sso, 'disable', {
    summary: 'Stop new sign-ins; the connection stays',
    detail: 'It asks first if that leaves no owner a way to sign in.',
    required: org,
    rehearsable: true,
    example: 'idctl sso disable --org acme',
    run: async (call) => {
      const { disableSso } = await import('../../services/tenancy/sso/operations.ts');

      const disable = disableSso;
      await agreeToShutOut(call, disable);
      const view = await call.perform(disable, [...fields, ...affectedFields]);
      if (view.owners.length > 0) call.note(affected(view));
    },
  });
  addTest(sso);
  addAttempts(sso);
  addRelink(sso);
  addRemove(sso);
}

function addSet(sso: Command): void {
  verb(sso, 'set', {
    summary: 'Make the connection, or change what is given of it',
    required: org,
    options: {
      '--domain <domain>': 'e-mail domain of the people who sign in',
      '--issuer <url>': 'the provider; its endpoints are discovered',
      '--client-id <id>': 'the client registered at the provider',
      '--secret-stdin': 'read the client secret from standard input',
      '--secret-file <file>': 'read the client secret from a file',
      '--redirect-uri <uri>': "default: this instance's /auth/sso/callback",
      '--groups-claim <claim>': 'claim with the group names (default: groups)',
      '--sync-on-login': 'sync groups on every login (default)',
      '--no-sync-on-login': 'sync groups on the first login only',
      '--auto-remove': 'remove synced memberships without a group',
      '--no-auto-remove': 'keep them (default)',
      '--absent-groups <what>': 'a missing groups claim is: unknown (default) or none',
      '--ignore-email-verified': "do not ask for the provider's email_verified",
      '--no-ignore-email-verified': 'refuse when it is false (default)',
      '--require-local-two-factor': 'ask for the second factor here too',
      '--no-require-local-two-factor': 'trust the provider with it (default)',
      ...force('provider'),
    },
    detail: 'If the connection is enabled, it tests the provider first, and asks if a step fails.',
    example: `idctl sso set --org acme --domain acme.com \\
      --issuer https://id.acme.com --client-id idctl --secret-stdin <secret`,
    run: set,
  });
}

async function set(call: Call): Promise<void> {
  const { changeSso } = await import('../../services/tenancy/sso/operations.ts');
  const { domain, force: unasked, ...given } = call.input;
  const input = { ...given, ...(domain === undefined ? {} : { emailDomain: domain }) };
  const view = await withSecret(input, async (whole) => {
    const { enabled } = await call.rehearse(changeSso, whole);
    if (enabled && unasked !== true) await requireUsable(call, whole);
    return call.operate(changeSso, whole);
  });
  call.show(view, fields);
  await tellNext(call, view);
}

/**
 * Names the next step before people sign in: add the domain, verify it, or enable the connection.
 */
async function tellNext(call: Call, { emailDomain, enabled }: Connection): Promise<void> {
  if (enabled || emailDomain === null) return;
  const { listDomains } = await import('../../services/tenancy/domains/operations.ts');
  const org = String(call.input['org']);
  const { config } = await readConfiguration(call.flags);
  const domains = await call.every(listDomains, { org });
  const found = domains.find(({ domain }) => domain === emailDomain);
  const about = `${shellWord(emailDomain)} --org ${shellWord(org)}`;
  if (found?.state === 'Verified' || config.trust.domains === 'off') {
    call.note(`Next:\n  ${call.here(`idctl sso enable --org ${shellWord(org)}`)}`);
  } else if (found === undefined) {
    call.note(
      `${org} has not added ${emailDomain}. Next:\n  ${call.here(`idctl domain add ${about}`)}`,
    );
  } else {
    call.note(
      `${emailDomain} is not verified yet. Next:\n  ${call.here(`idctl domain verify ${about}`)}`,
    );
  }
}

/**
 * Tests the provider with these settings, since people sign in by an enabled connection. Asks if a
 * step fails.
 */
async function requireUsable(call: Call, input: Record<string, unknown>): Promise<void> {
  const { testSso } = await import('../../services/tenancy/sso/test.ts');

  await requirePassed(call, 'provider', await call.operate(testSso, input));
}

/** Runs the work with the given client secret. If only the secret is missing, it asks for it. */
async function withSecret<View>(
  { secretStdin, secretFile, ...input }: Record<string, unknown>,
  work: (input: Record<string, unknown>) => Promise<View>,
): Promise<View> {
  const secret = await givenSecret({ name: 'secret', stdin: secretStdin, file: secretFile });
  try {
    return await work({ ...input, clientSecret: secret });
  } catch (error) {
    if (!lacksSecret(error) || secret !== undefined || !canAsk()) throw error;
    return work({ ...input, clientSecret: await askSecret('Client secret') });
  }
}

/** Whether only the secret is missing. */
function lacksSecret(error: unknown): boolean {
  if (!(error instanceof Refusal)) return false;
  if (error.code === 'secret_required') return true;
  return error.faults.length > 0 && error.faults.every(({ path }) => path === 'clientSecret');
}

function addTest(sso: Command): void {
  verb(sso, 'test', {
    summary: 'Test the provider step by step; exit 1 if a step fails',
    required: org,
    options: {
      '--issuer <url>': 'another provider than the one stored',
      '--client-id <id>': 'another client',
      '--secret-stdin': 'read its secret from standard input',
      '--secret-file <file>': 'read its secret from a file',
      '--redirect-uri <uri>': 'another redirect URI',
    },
    example: 'idctl sso test --org acme',
    run: async (call) => {
      const { testSso } = await import('../../services/tenancy/sso/test.ts');
      const view = await withSecret(call.input, (input) => call.operate(testSso, input));
      await tellOlderDaemon(call);
      call.examination(view);
    },
  });
}

const attempt: Fields<z.output<typeof attemptView>> = [
  ['At', (view) => view.at],
  ['Result', (view) => (view.ok ? 'signed in' : view.code), 'whole'],
  ['Stage', (view) => view.stage],
  ['E-mail', (view) => view.email],
  ['Groups', (view) => (view.groups === null ? 'not readable' : view.groups)],
  ['Reference', (view) => view.reference, 'whole'],
  ['ID', (view) => view.id, 'wide'],
];

function addAttempts(sso: Command): void {
  verb(sso, 'attempts', {
    summary: 'List the last sign-ins, newest first; they are kept 7 days',
    required: org,
    options: { '--reference <id>': 'the reference that a refused person was shown' },
    example: 'idctl sso attempts --org acme',
    run: async (call) => {
      const { listAttempts } = await import('../../services/signin/attempts/list.ts');
      const { listAttemptsInput } = await import('../../services/signin/attempts/schema.ts');
      const { attemptDays } = await import('../../services/signin/attempts/attempt.ts');
      const { reference } = call.input;
      const none =
        reference === undefined
          ? 'No sign-in attempts yet.'
          : `No attempt has the reference ${String(reference)}. Check it; attempts are kept ${attemptDays} days.`;
      call.table(await call.every(by(listAttemptsInput, listAttempts)), attempt, none);
    },
  });
}

const relinked: Fields<z.output<typeof ssoRelinkedView>> = [
  ['Old issuer', (view) => view.fromIssuer],
  ['Issuer now', (view) => view.issuer],
  ['People', (view) => view.people],
  ['Sessions ended', (view) => view.sessionsEnded],
];

function addRelink(sso: Command): void {
  verb(sso, 'relink', {
    summary: 'After a change of provider: link people again at their next sign-in',
    required: { ...org, '--from-issuer <url>': 'the provider that was used before' },
    rehearsable: true,
    example: 'idctl sso relink --org acme --from-issuer https://id.acme.com --dry-run',
    run: async (call) => {
      const { relinkSso } = await import('../../services/tenancy/sso/relink.ts');
      await call.destroy(relinkSso, {
        fields: relinked,
        question: ({ people, fromIssuer, issuer }) =>
          `Unlink the identities of ${persons(people)} at ${fromIssuer}? Then a person is linked again by the address that ${issuer} names.`,
        done: ({ people }) =>
          `${persons(people)} ${people.length === 1 ? 'is' : 'are'} linked again at the next sign-in.`,
      });
    },
  });
}

function addRemove(sso: Command): void {
  verb(sso, 'remove', {
    summary: 'Remove the connection and its sessions; accounts stay',
    required: org,
    destroys: true,
    example: 'idctl sso remove --org acme --yes',
    run: async (call) => {
      const { removeSso } = await import('../../services/tenancy/sso/operations.ts');

      const remove = removeSso;
      const shutOut = await shutOutBy(call, remove);
      await call.destroy(remove, {
        fields: [...fields, ...affectedFields, sessionsEndedField],
        question: (view) =>
          `Remove the connection to ${view.issuer}? ${removed(view, shutOut)}`.trim(),
        done: (view) =>
          [
            `Removed the connection to ${view.issuer}. ${removed(view, null)}`.trim(),
            ...kept(view),
          ].join('\n'),
      });
    },
  });
}

function removed(view: z.output<typeof ssoRemovedView>, shutOut: string | null): string {
  return [sessionsEnding(view), affected(view), shutOut ?? '']
    .filter((part) => part !== '')
    .join(' ');
}

/** The next step before another provider can sign the same people in. */
function kept({ people, issuer }: z.output<typeof ssoRemovedView>): string[] {
  if (people.length === 0) return [];
  const who = `${persons(people)} ${people.length === 1 ? 'stays' : 'stay'} linked to ${issuer}.`;
  return [`${who} To link them to another provider, see idctl sso relink --help`];
}

function affected({ owners }: z.output<typeof ssoDisabledView>): string {
  return owners.length === 0 ? '' : `These owners signed in by it: ${owners.join(', ')}.`;
}
