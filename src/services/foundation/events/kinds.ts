import { z } from 'zod';
import { role } from '../fields.ts';

// The table of event kinds. A line here feeds docs/reference/events.md, the API document and the filters of
// webhooks and lists. The tests check each recorded event against it.

/** What the table says about a kind. */
export interface EventKind {
  /**
   * The recipients: the organization and its webhooks, or only the operator. With `either`, an
   * event goes to the organization if it names one.
   */
  scope: 'organization' | 'instance' | 'either';
  subject: string | null;
  about: string;
  data: z.ZodObject;
  /** Whether the names stay after the deletion of the account, which acted there as admin. */
  keepsNames?: true;
}

const kind =
  <Scope extends EventKind['scope']>(scope: Scope) =>
  <Shape extends z.core.$ZodLooseShape>(subject: string | null, about: string, data: Shape) => ({
    scope,
    subject,
    about,
    data: z.strictObject(data),
  });
const inOrg = kind('organization');
const onInstance = kind('instance');
const either = kind('either');

const text = z.string();
/** A text about a person. It is erased after the person has deleted their account. */
export const personal = z.string().describe('Personal: becomes `deleted` with the account.');
const flag = z.boolean();
const number = z.int();
const instant = z.iso.datetime();
const list = z.array(text);
/** Data of an event that strangers can repeat: count, last time and request ids (security X5). */
const tally = { count: number, lastAt: instant.optional(), references: list.optional() };
/** `reason` is the last one. If the reasons differ, `reasons` has one for each reference. */
const refused = { reason: text, ...tally, reasons: list.optional() };
const because = z
  .object({ group: text, mappingId: text, source: z.literal('scim').optional() })
  .nullable();
const planned = z.object({ projectId: text, role: text, because });
const synced = {
  adds: z.array(planned),
  changes: z.array(planned.extend({ from: text })),
  removes: z.array(planned),
};
const roleOfMapping = {
  project: text.optional(),
  role: text.optional(),
  orgRole: text.optional(),
};
const mapped = { group: text, ...roleOfMapping };
const linked = { kind: text, issuer: text };
const ended = { owners: list, sessionsEnded: number };
const owners = { owners: list };
const why = { why: text };
/** Whether the connection may sign owners in; absent in events of older versions. */
const approved = flag.optional();
const members = { members: number };
const ofAccount = { account: text };
const passkey = { passkey: text, name: personal };
const inProject = { project: text, role: text };
const wasSynced = flag.optional();

/** Every kind of event, by its name. */
export const eventKinds = {
  'organization.created': inOrg('organization', 'An organization was created', {}),
  'organization.renamed': inOrg('organization', 'An organization was renamed', { from: text }),
  'organization.deleted': inOrg(
    'organization',
    'An organization with `members` members was deleted',
    members,
  ),
  'organization.ownerless': inOrg(
    'user',
    'An organization has no owner: SCIM deactivated the last one, or their account was deleted',
    {},
  ),

  'member.added': inOrg('user', 'An account became a member', {
    role,
    origin: text,
    record: text.optional(),
    userName: personal.optional(),
  }),
  'member.second_factor.reset': inOrg(
    'user',
    'The second factor of a member was removed, and the sessions ended',
    { authenticatorRemoved: flag, passkeysRemoved: number, sessionsEnded: number },
  ),
  'member.role.changed': inOrg('user', 'The role of a member was changed', {
    from: role,
    to: role,
    because: because.optional(),
  }),
  'member.removed': inOrg('user', 'A member left, or was removed manually', { role }),

  'invitation.created': inOrg('invitation', 'An address was invited, by mail or only by the link', {
    role,
    mailed: flag,
  }),
  'invitation.accepted': inOrg('invitation', 'An invitation was accepted', { role, account: text }),
  'invitation.revoked': inOrg('invitation', 'An invitation was revoked', {}),

  'setup.link.created': inOrg('setupLink', 'A setup link for `parts` was created', {
    parts: list,
    expiresAt: instant,
    mailed: flag,
  }),
  'setup.link.opened': inOrg('setupLink', 'A setup link was opened, and bound to a browser', {}),
  'setup.link.finished': inOrg('setupLink', 'The holder of a setup link finished', {}),
  'setup.link.revoked': inOrg('setupLink', 'A setup link was revoked', {}),

  'project.created': inOrg('project', 'A project was created', {}),
  'project.renamed': inOrg('project', 'A project was renamed', { from: text }),
  'project.deleted': inOrg('project', 'A project with `members` members was deleted', members),
  'project.member.added': inOrg('user', 'An account was added to a project', {
    ...inProject,
    origin: text,
  }),
  'project.member.role.changed': inOrg('user', 'The role of an account in a project was changed', {
    project: text,
    from: text,
    to: text,
    wasSynced,
  }),
  'project.member.removed': inOrg('user', 'An account was removed from a project', {
    ...inProject,
    wasSynced,
  }),

  'domain.added': inOrg('domain', 'A domain was claimed', { overridden: flag.optional() }),
  'domain.verified': inOrg('domain', 'A domain was verified, by DNS or by the operator', {
    by: z.enum(['dns', 'operator']),
  }),
  'domain.removed': inOrg('domain', 'A domain was removed', {
    state: text,
    ssoDisabled: flag,
    owners: list,
    sessionsEnded: number,
  }),

  'sso.saved': inOrg('sso', 'The single sign-on connection was saved', {
    kind: text.optional(),
    issuer: text,
    clientId: text,
    enabled: flag,
    approved,
  }),
  'sso.approved': inOrg(
    'sso',
    'An owner or the operator approved where the connection points, or the upgrade did; `owners` then names the owners whose own second factor is asked for from now on',
    { pointsAt: text.optional(), owners: list.optional() },
  ),
  'sso.enabled': inOrg('sso', 'Single sign-on was switched on', { approved }),
  'sso.disabled': inOrg(
    'sso',
    'Single sign-on was switched off; `owners` names the owners linked through it',
    owners,
  ),
  'sso.removed': inOrg(
    'sso',
    'The connection was removed; `owners` names the owners linked to it',
    ended,
  ),
  'sso.relinked': inOrg('sso', 'Accounts were unlinked after a change of provider', {
    fromIssuer: text,
    people: number,
    sessionsEnded: number,
  }),
  'sso.domain.lost': inOrg('sso', 'Another organization verified the domain of the connection', {
    emailDomain: text,
  }),
  'sso.owner.refused': inOrg(
    'sso',
    'Sign-ins of owners were refused: no owner has approved where the connection points',
    refused,
  ),
  'sso.signin.refused': inOrg('sso', 'Sign-ins through single sign-on were refused', refused),
  'sso.provider.failed': inOrg('sso', 'The identity provider could not be used', {
    stage: text,
    message: text,
    ...refused,
  }),
  'sso.metadata.changed': inOrg(
    'sso',
    'The metadata of the SAML provider has changed: `added` and `removed` are the fingerprints of certificates',
    { ssoUrl: text, added: list, removed: list },
  ),
  'sso.metadata.refused': inOrg(
    'sso',
    'The metadata at the URL names another entity ID, so idctl did not take it',
    tally,
  ),
  'sso.groups.synced': inOrg('user', 'A single sign-on changed project memberships', synced),
  'sso.groups.unknown': inOrg('user', 'The groups of a sign-in were unknown; no role changed', why),
  'sso.groups.failed': inOrg('user', 'Groups could not be synced; the sign-in continued', {}),

  'ldap.saved': inOrg('ldap', 'The directory connection was saved', {
    bindDn: text,
    tls: flag,
    enabled: flag,
    approved,
  }),
  'ldap.approved': inOrg(
    'ldap',
    'An owner or the operator approved where the connection points, or the upgrade did',
    { pointsAt: text.optional(), owners: list.optional() },
  ),
  'ldap.enabled': inOrg('ldap', 'Sign-in through the directory was switched on', { approved }),
  'ldap.disabled': inOrg(
    'ldap',
    'Sign-in through the directory was switched off; `owners` names the owners linked through it',
    owners,
  ),
  'ldap.removed': inOrg(
    'ldap',
    'The connection was removed; `owners` names the owners linked to it',
    ended,
  ),
  'ldap.relinked': inOrg('ldap', 'Accounts were unlinked after a change of directory', {
    people: number,
    sessionsEnded: number,
  }),
  'ldap.owner.refused': inOrg(
    'ldap',
    'Sign-ins of owners were refused: no owner has approved where the connection points',
    { entry: text.optional(), ...refused },
  ),
  'ldap.signin.refused': inOrg('ldap', 'Sign-ins through the directory were refused', {
    entry: text.optional(),
    ...refused,
  }),
  'ldap.directory.failed': inOrg('ldap', 'The directory could not be used', {
    message: text,
    ...refused,
  }),
  'ldap.bind.limited': inOrg(
    'ldap',
    'Too many bind passwords were refused; no more are sent for a while',
    { bindDn: text, ...tally },
  ),
  'ldap.groups.synced': inOrg('user', 'A directory sign-in changed project memberships', synced),
  'ldap.groups.unknown': inOrg(
    'user',
    'The groups of a sign-in were unknown; no role changed',
    why,
  ),
  'ldap.groups.failed': inOrg('user', 'Groups could not be synced; the sign-in continued', {}),

  'mapping.added': inOrg('mapping', 'A directory group was mapped', mapped),
  'mapping.changed': inOrg('mapping', 'A mapping gives another role', {
    ...mapped,
    /** What it gave before. */
    from: z.object(roleOfMapping),
  }),
  'mapping.removed': inOrg('mapping', 'A mapping was removed', mapped),

  'scim.token.created': inOrg('scimToken', 'The SCIM token was created', {}),
  'scim.token.rotated': inOrg(
    'scimToken',
    'The SCIM token was replaced; the old one is invalid',
    {},
  ),
  'scim.token.revoked': inOrg('scimToken', 'The SCIM token was revoked', {}),
  'scim.token.suspended': inOrg(
    'scimToken',
    'The SCIM token was suspended until it is rotated: a backup was restored',
    {},
  ),
  'scim.user.provisioned': inOrg('user', 'SCIM made an account a member (spec §4.3)', {
    role,
    origin: z.literal('scim'),
    record: text,
    userName: personal,
  }),
  'scim.user.deactivated': inOrg('user', 'SCIM deactivated a member (spec §3.2)', {
    record: text,
    userName: personal,
  }),
  'scim.user.updated': inOrg('user', 'SCIM changed attributes of a User', {
    attributes: list,
  }),
  'scim.user.recorded': inOrg('user', 'SCIM created an inactive User, who is not a member', {}),
  'scim.group.created': inOrg('scimGroup', 'SCIM created a group with `members` members', members),
  'scim.group.updated': inOrg(
    'scimGroup',
    'SCIM changed a group; `added` members joined, and `removed` left',
    {
      added: number,
      removed: number,
      renamed: z.object({ from: text, to: text }).nullable(),
      externalId: z.object({ from: text.nullable(), to: text.nullable() }).nullable(),
    },
  ),
  'scim.group.deleted': inOrg('scimGroup', 'SCIM deleted a group with `members` members', members),
  'scim.groups.synced': inOrg('user', 'SCIM groups changed project memberships', synced),
  'scim.groups.planned': inOrg(
    null,
    'Groups set the roles of many people; `changed` of `people` have other roles now',
    { people: number, changed: number },
  ),
  'scim.address.taken': inOrg(
    'user',
    'Another record has the address, so this account does not get it',
    {
      email: personal.nullable(),
      record: text,
      holder: text,
    },
  ),

  'signin.saved': inOrg('organization', 'The sign-in settings were saved', {
    password: flag,
    passkey: flag.optional(),
    magicCode: flag,
    google: flag,
    github: flag,
    allowSelfSignup: flag,
    restrictOauthToVerifiedDomains: flag,
  }),

  'client.created': inOrg('client', 'A client was created', {}),
  'client.updated': inOrg(
    'client',
    'Settings of a client were changed, or the loss of a domain removed an origin',
    { fields: list },
  ),
  'client.rotated': inOrg('client', 'A client has a new secret; the old one is refused', {}),
  'client.removed': inOrg('client', 'A client was removed', {}),
  'client.refused': inOrg(
    'client',
    'A person was refused access to an application, or the secret of a client was refused',
    {
      account: text.optional(),
      ...refused,
    },
  ),
  'client.session.started': inOrg('client', 'A session signed in to a client', {
    account: text,
    session: text,
    ...tally,
  }),
  'client.session.ended': inOrg('client', 'A person signed out of a client', {
    account: text,
    session: text,
  }),
  'client.reuse.detected': inOrg(
    'client',
    'A code or refresh token was used twice; all tokens issued from it were revoked',
    { session: text },
  ),

  'webhook.added': inOrg('webhook', 'A webhook was added', { events: list }),
  'webhook.changed': inOrg('webhook', 'The events of a webhook were changed', {
    events: list,
  }),
  'webhook.enabled': inOrg('webhook', 'A webhook was switched on', {}),
  'webhook.disabled': inOrg(
    'webhook',
    'A webhook was switched off: by hand, because it answered 410 or failed for days, or by a restore',
    {
      reason: z.enum(['requested', 'gone', 'failing', 'restored']),
      failingSince: instant.optional(),
    },
  ),
  'webhook.removed': inOrg(
    'webhook',
    'A webhook was removed; `waiting` counts the messages that were not sent',
    {
      waiting: number,
    },
  ),
  'webhook.secret.rotated': inOrg(
    'webhook',
    'A webhook has a new secret; the old one also signs for a day',
    { previousUntil: instant },
  ),
  'webhook.delivery.retried': inOrg('webhook', 'A delivery is sent again', {
    delivery: text,
    event: text,
  }),

  'identity.linked': either('user', 'An external identity was linked to an account', linked),
  'identity.unlinked': either('user', 'An external identity was unlinked from an account', linked),
  'account.reclaimed': either(
    'user',
    'The credentials of a holder with an unverified address were revoked (security I3, P11)',
    { by: z.enum(['domain', 'mail', 'operator', 'signup']) },
  ),
  'account.unapproved.ended': either(
    'user',
    'A person became owner. The credentials in `ended` were revoked: they came through a connection that no owner had approved (security I8)',
    { ended: list },
  ),

  'session.started': either(
    'user',
    'A session began; an organization sees only sessions through its connections',
    {
      method: text,
      session: text,
    },
  ),
  'session.ended': onInstance('session', 'A session was ended', { account: text.optional() }),
  'session.confirmed': onInstance('session', 'A person confirmed their identity in a session', {
    account: text,
    by: z.enum(['password', 'totp', 'passkey', 'recovery']),
  }),
  'session.reuse.detected': either('user', 'A refresh token was used again; its session ended', {
    session: text,
  }),
  'signin.refused': onInstance(
    'user',
    'Sign-ins were refused; without a subject, the account is unknown, and `domain` is the verified domain of the given address',
    {
      method: text,
      address: personal,
      domain: text.optional(),
      ...refused,
    },
  ),

  'social.provider.failed': onInstance(null, 'Google or GitHub could not be used', {
    provider: z.enum(['google', 'github']),
    stage: text,
    message: text,
    ...refused,
  }),

  'user.created': either(
    'user',
    'An account was created; an organization sees only accounts created through its connections',
    { by: text.optional() },
  ),
  'user.deleted': onInstance(
    'user',
    'An account was deleted; `ownerless` organizations have no owner now',
    { ownerless: list.optional() },
  ),
  'user.disabled': onInstance('user', 'An account was disabled', {}),
  'user.enabled': onInstance('user', 'An account was enabled again', {}),
  'user.unlocked': onInstance('user', 'The attempt counts of an account were reset', {}),
  'user.password.changed': onInstance('user', 'A person changed their password', {}),
  'user.password.set': onInstance('user', 'The operator set a password', {
    tokensEnded: number.optional(),
  }),
  'user.password.reset': onInstance('user', 'A person set a new password with a mailed code', {}),
  'user.email.verified': onInstance('user', 'A mailed code verified the address of an account', {}),
  'user.email.changed': onInstance('user', 'A person changed the address of their account', {
    from: personal.nullable(),
    to: personal,
  }),
  'user.email.removed': onInstance(
    'user',
    'An account lost its unverified address, because another account has verified it',
    { email: personal },
  ),
  'user.email.refused': onInstance('user', 'Codes for a new address were wrong', {
    address: personal,
    ...refused,
  }),
  'user.totp.enabled': onInstance('user', 'An authenticator app was enabled', {}),
  'user.totp.disabled': onInstance('user', 'An authenticator app was disabled', {}),
  'user.login_link.created': onInstance(
    'user',
    'The operator created a sign-in link, valid once',
    {},
  ),
  'user.totp.reset': onInstance('user', 'The operator removed an authenticator or passkeys', {}),
  'user.recovery_codes.created': onInstance('user', 'New recovery codes were created', {}),
  'user.recovery_code.used': onInstance('user', 'A recovery code was used up', {
    remaining: number,
  }),
  'user.passkey.added': onInstance('user', 'A passkey was added', passkey),
  'user.passkey.renamed': onInstance('user', 'A passkey was renamed', {
    ...passkey,
    from: personal,
  }),
  'user.passkey.removed': onInstance('user', 'A passkey was removed', {
    ...passkey,
    reason: text.optional(),
  }),
  'user.passkey.refused': onInstance(
    'user',
    'Passkeys were refused; for a sign-in with only a passkey, see `signin.refused`',
    { purpose: text, address: personal, ...refused },
  ),

  'token.created': onInstance(
    'token',
    'A personal access token, or an app’s bot token, was created',
    {
      account: text,
      app: text.optional(),
      scope: text.optional(),
    },
  ),
  'token.regenerated': onInstance('token', 'A personal access token has a new value', ofAccount),
  'token.revoked': onInstance('token', 'A personal access token or bot token was revoked', {
    account: text,
    app: text.optional(),
    reason: text.optional(),
  }),
  'app.registered': onInstance('app', 'An app was registered', ofAccount),
  'app.organization.named': {
    ...inOrg('app', 'An app may introspect the tokens of the members', ofAccount),
    keepsNames: true,
  },
  'app.regenerated': onInstance('app', 'An app has a new secret', ofAccount),
  'app.revoked': onInstance('app', 'An app was revoked', { account: text, keepTokens: flag }),
  'app.refused': onInstance('app', 'Apps were refused; without a subject, the app is unknown', {
    address: text,
    ...refused,
    reason: text.nullable(),
  }),

  'mail.abandoned': either(
    null,
    'A mail could not be sent; an organization sees only its invitations and setup links',
    {
      about: z.enum([
        'code',
        'signup',
        'account',
        'notice',
        'passkey',
        'invitation',
        'setupLink',
        'newAddress',
        'deleted',
      ]),
      email: personal.optional(),
      invitation: text.optional(),
      setupLink: text.optional(),
      reason: text,
    },
  ),

  'key.signing.rotated': onInstance('key', 'A new key to sign sessions was created', {
    signsFrom: instant,
    retired: number,
  }),
  'key.signing.dropped': onInstance('key', 'A signing key without live tokens was deleted', {}),
  'key.saml.rotated': onInstance('key', 'New keys for SAML providers were created', {
    signsFrom: instant,
    retired: number,
  }),
  'key.saml.dropped': onInstance('key', 'A retired key for SAML providers was deleted', {}),
  'key.master.rotated': onInstance('key', 'A new master key was created', { former: text }),
  'backup.made': onInstance(null, 'A backup was made', { bytes: number }),
  'backup.restored': onInstance(null, 'The instance was restored from a backup', {
    madeAt: instant,
    version: text,
    keepTokens: flag,
    ended: z.record(z.string(), number),
    suspended: z.record(z.string(), number),
    disabled: z.record(z.string(), number),
  }),
  'clock.confirmed': onInstance(
    null,
    'The operator confirmed the clock after a jump, so that expired data is deleted again',
    { lastSweep: instant },
  ),
  'database.moved': onInstance(null, 'The instance was moved to this database', {
    from: text,
    rows: number,
    move: text,
  }),
} satisfies Record<string, EventKind>;

/** The name of a kind of event. */
export type EventName = keyof typeof eventKinds;

/** The names of the kinds that an organization sees. */
export type SeenEventName = {
  [Name in EventName]: (typeof eventKinds)[Name]['scope'] extends 'instance' ? never : Name;
}[EventName];

/** The data of this kind of event, besides actor and subject. */
export type EventData<Name extends EventName> = z.input<(typeof eventKinds)[Name]['data']>;

/** The names of all kinds, in the order of the documentation. */
// The keys of an object literal match its type.
export const eventNames = Object.keys(eventKinds) as EventName[];
