import {
  type ConnectionKindName,
  connectionKinds,
  isConnectionKind,
} from '../../../connection-kinds.ts';
import type { Context } from '../../../context.ts';
import type { Next, Todo } from '../../../next.ts';
import type { Factor } from '../../people/two-factor/asking.ts';
import { isApproved } from '../../tenancy/connections/approval.ts';
import { approvedByOperator } from '../../tenancy/connections/waiting.ts';
import { isMethodAllowed } from '../../tenancy/signin-settings/governing.ts';
import { findObstacle } from '../../tenancy/signin-settings/methods.ts';
import { reasonSentences } from '../reason-words.ts';
import type { Scene } from './scene.ts';
import type { SignInWay } from './ways.ts';

// The sentences of `explain`. A rule says in one terminal line why a way is open or closed. A block
// says what to do.

type Wording<Said> = (scene: Scene, way: SignInWay) => Said;

/** The reasons that close a way: the rule, and what to do about it. */
const wordings: Record<string, { rule: Wording<string>; message: Wording<Next> }> = {
  unknown_account: {
    rule: () => reasonSentences.unknown_account,
    message: ({ email, organization: { slug: org }, invited }) =>
      invited
        ? [
            `${reasonSentences.unknown_account} An invitation is pending: its link lets the person sign up. A new invitation would revoke this link.`,
            { to: 'see the invitation', operation: 'invitation.list', with: { org } },
          ]
        : [
            reasonSentences.unknown_account,
            { to: 'invite the person', operation: 'invitation.create', with: { email, org } },
          ],
  },
  no_password: {
    rule: () => 'The account has no password.',
    message: ({ email, sendsMail }) => [
      `The account has no password.${sendsMail ? ' The person can set one by mail.' : ''}`,
      byOperator({ to: 'set one', operation: 'user.password', with: { user: email } }),
    ],
  },
  no_passkey: {
    rule: () => 'The account has no passkey that signs in.',
    message: ({ email }) => [
      'The account has no passkey that signs in.',
      byOperator({
        to: 'sign the person in once, so that they can add one',
        operation: 'user.login-link',
        with: { user: email },
      }),
    ],
  },
  account_disabled: {
    rule: () => reasonSentences.account_disabled,
    message: ({ email }) => [
      reasonSentences.account_disabled,
      byOperator({ to: 'enable it', operation: 'user.enable', with: { user: email } }),
    ],
  },
  email_unverified: {
    rule: () => reasonSentences.email_unverified,
    message: () =>
      `${reasonSentences.email_unverified} The person must enter the sign-up code, or sign in with a mailed code or through the organization.`,
  },
  deactivated: {
    rule: ({ organization: { slug }, keptGroups }) =>
      keptGroups === null
        ? `${slug} has removed this person.`
        : `SCIM shows this person as deactivated in ${slug}.`,
    message: (scene) => {
      const { email, keptGroups } = scene;
      const org = scene.organization.slug;
      if (keptGroups !== null) return inactive(scene);
      return [
        `${org} has removed this person.`,
        { to: 'add them again', operation: 'member.add', with: { email, org } },
      ];
    },
  },
  identity_conflict: {
    rule: () => reasonSentences.identity_conflict,
    message: ({ email, organization: { slug: org } }, { method }) => [
      reasonSentences.identity_conflict,
      ...(isConnectionKind(method) ? [relink(method, org)] : []),
      byOperator({
        to: 'unlink only this person',
        operation: 'identity.unlink',
        with: { user: email },
      }),
    ],
  },
  owner_not_approved: {
    rule: () => reasonSentences.owner_not_approved,
    message: ({ organization: { slug: org } }, { method }) => [
      `${reasonSentences.owner_not_approved} An owner does it on the account page.`,
      ...(isConnectionKind(method) ? [approvedByOperator(method, org)] : []),
    ],
  },
  email_domain_not_verified: {
    rule: ({ domain }) => `The organization has not verified ${domain}.`,
    message: ({ domain, organization: { slug: org } }) => [
      `The organization has not verified ${domain}.`,
      { to: 'verify it', operation: 'domain.add', with: { domain, org } },
    ],
  },
  method_off: {
    rule: (scene) => `restrictOauthToVerifiedDomains of ${settler(scene)} is on.`,
    message: (scene) =>
      `The setting restrictOauthToVerifiedDomains of ${settler(scene)} allows only addresses on verified domains. Verify ${scene.domain}, or switch the setting off.`,
  },
  unproved: {
    rule: () => 'The address of the account was never verified.',
    message: () =>
      'The address of the account was never verified, so no provider is linked to it. A mailed code or single sign-on verifies the address.',
  },
  former_domain: {
    rule: () => 'The organization that verified the address gave up the domain.',
    message: ({ domain }) =>
      `The organization that verified the address has given up ${domain}. The person signs in another way, and connects the provider on the account page.`,
  },
  too_many_tries: {
    rule: (_, { until }) => `Locked until ${clock(until)}: too many attempts.`,
    message: ({ email }) => ['Too many attempts failed.', unlock(email)],
  },
  locked_in_part: {
    rule: () => '',
    message: ({ email }) => [
      'Too many attempts were refused, but not on every network where the person signs in.',
      unlock(email),
    ],
  },
  too_many_codes: {
    rule: (_, { until }) => `Locked until ${clock(until)}: too many wrong codes.`,
    message: ({ email }) => ['Too many wrong second-factor codes were entered.', unlock(email)],
  },
  directory_at_rest: {
    rule: (_, { until }) => `Paused until ${clock(until)}: bind password refused too often.`,
    message: ({ organization: { slug: org } }) => [
      'The directory refused the bind password of its connection too often.',
      { to: 'check it', operation: 'ldap.test', with: { org } },
    ],
  },
  too_many_mails: {
    rule: (_, { until }) => `No mail until ${clock(until)}: too many were sent.`,
    message: ({ email }) => ['Too many codes were mailed to this address.', unlock(email)],
  },
};

const byOperator = (todo: Todo): Todo => ({ ...todo, by: 'operator' });
const unlock = (user: string) =>
  byOperator({ say: 'Wait, or the operator unlocks it', operation: 'user.unlock', with: { user } });
const relink = (kind: ConnectionKindName, org: string): Todo => {
  const { server } = connectionKinds[kind];
  return { say: `If the ${server} is new`, operation: `${kind}.relink`, with: { org } };
};
const clock = (at: Date | undefined) => `${at?.toISOString().slice(0, 16) ?? ''}Z`;

/** The organization, or the instance, whose sign-in settings apply to the address. */
function settler({ governing, organization, domain }: Scene): string {
  if (governing.organizationId === null) return 'the instance';
  if (governing.organizationId === organization.id) return organization.slug;
  return `the organization of ${domain}`;
}

/** The sentence that names the rule or setting that decides on a way. */
export function ruleText(ctx: Context, scene: Scene, way: SignInWay): string {
  if (way.reason === 'off') return whyOff(ctx, scene, way);
  if (way.reason === 'not_told') return 'Not shown: not a member, or added by SCIM.';
  if (way.reason === 'elsewhere') return 'Not shown: another organization has the connection.';
  if (way.reason !== 'on') return wordingOf(way.reason).rule(scene, way);
  const { partlyUntil, asks = [], lacksFactor } = way;
  const locked = partlyUntil && ` Locked for some networks until ${clock(partlyUntil)}.`;
  const then = asks.length === 0 ? '' : ` Then ${factorText(asks)}.`;
  return `${whyOn(scene, way)}${locked ?? ''}${then}${lacksFactor ? ` ${noFactor}` : ''}`;
}

const noFactor = 'No second factor is set up. The person can add one on the account page.';

const factorNames: Record<Factor, string> = {
  totp: 'the authenticator app',
  passkey: 'a passkey',
  recovery: 'a recovery code',
};

/** The second factors, such as: the authenticator app or a recovery code. */
function factorText(factors: Factor[]): string {
  const names = factors.map((factor) => factorNames[factor]);
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(names);
}

function whyOn(scene: Scene, { method }: SignInWay): string {
  if (isConnectionKind(method))
    return `${connectionKinds[method].some} is enabled for ${scene.domain}${waiting(scene[method])}.`;
  return `The setting ${method} of ${settler(scene)} is on.`;
}

/** Says that no owner has approved the connection, so owners cannot use it. */
function waiting(connection: { approved: boolean } | null): string {
  return connection === null || isApproved(connection) ? '' : ', but not approved';
}

function whyOff(ctx: Context, scene: Scene, { method }: SignInWay): string {
  const { governing, domain } = scene;
  if (isConnectionKind(method)) return `${connectionKinds[method].none} is enabled for ${domain}.`;
  if (!governing.settings[method]) return `The setting ${method} of ${settler(scene)} is off.`;
  if (!isMethodAllowed(governing, method)) return `Not for ${domain}, which is not verified.`;
  return findObstacle(ctx, method) ?? 'It is not set up.';
}

function wordingOf(reason: string): { rule: Wording<string>; message: Wording<Next> } {
  const other = () => `The sign-in is refused (${reason}).`;
  return wordings[reason] ?? { rule: other, message: other };
}

const inactive = ({ organization: { slug } }: Scene) =>
  `SCIM shows this person as deactivated in ${slug}. Activate them at the provider.`;

const needsNoInvitation = `${reasonSentences.unknown_account} The first sign-in creates it, so the person does not need an invitation.`;

/** Whether a sign-in through a connection of this organization would make the person a member. */
function isMadeByConnection(scene: Scene, ways: SignInWay[]): boolean {
  return ways.some(
    ({ method, could }) =>
      could === true &&
      isConnectionKind(method) &&
      scene[method]?.organizationId === scene.organization.id,
  );
}

/** An obstacle, and what to do about it. */
interface Block {
  code: string;
  message: Next;
  until?: string;
}

/** The obstacles of the ways that are on, each once. If a way works, omits a missing password. */
export function blocksOf(scene: Scene, ways: SignInWay[]): Block[] {
  const closed = ways.filter(({ on, could }) => on && could === false);
  const isIn = ways.some(({ could }) => could === true);
  const others = closed.filter(({ reason }) => reason !== 'no_passkey');
  // A missing passkey is listed only if it is the only obstacle and no way works: people add a
  // passkey after they sign in.
  const told = (others.length > 0 || isIn ? others : closed).filter(
    ({ reason }) => !(isIn && reason === 'no_password'),
  );
  const blocks = new Map<string, Block>();
  // Leads, because nothing else helps before the person is active again.
  if (scene.keptGroups !== null && !isIn)
    blocks.set('deactivated', { code: 'deactivated', message: inactive(scene) });
  for (const way of told) {
    const { reason: code, until } = way;
    if (blocks.has(code)) continue;
    const message =
      code === 'unknown_account' && isMadeByConnection(scene, ways)
        ? needsNoInvitation
        : wordingOf(code).message(scene, way);
    const when = until === undefined ? {} : { until: until.toISOString() };
    blocks.set(code, { code, message, ...when });
  }
  const partly = ways.find(({ partlyUntil }) => partlyUntil !== undefined);
  if (partly?.partlyUntil !== undefined) {
    const message = wordingOf('locked_in_part').message(scene, partly);
    const until = partly.partlyUntil.toISOString();
    blocks.set('locked_in_part', { code: 'locked_in_part', message, until });
  }
  if (ways.every(({ on }) => !on)) {
    const message: Next = [
      'No way to sign in is on for this address.',
      { to: 'see the settings', operation: 'signin.show', with: { org: scene.organization.slug } },
    ];
    blocks.set('no_method', { code: 'no_method', message });
  }
  return [...blocks.values()];
}
