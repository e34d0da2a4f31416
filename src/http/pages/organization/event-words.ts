import type { z } from 'zod';
import type {
  EventName,
  eventKinds,
  SeenEventName,
} from '../../../services/foundation/events/kinds.ts';
import { methodNames } from '../../../services/people/sessions/method-names.ts';
import { clientWords } from '../../../services/tenancy/clients/words.ts';
import { partsInWords } from '../../../services/tenancy/setup-links/setup-link.ts';
import { counted } from '../../../text/words.ts';
import { type Html, html } from '../html.ts';

// The sentences about events, for the activity of an organization.

/** What the sentence about an event is made of. */
export interface Told<Data> {
  data: Data;
  /** The actor, as the first words of a sentence. */
  by: Html;
  /** The subject. */
  of: Html;
  /** The subject, as the first words of a sentence. */
  subject: Html;
  /** The subject is a person who acts for themselves, as in a sign-in. */
  isOwn: boolean;
  /** The account with this id, as the first words of a sentence. */
  account(id: string): Html;
  /** The short name of the project with this id. */
  project(id: string): string;
}

type Data<Name extends EventName> = z.output<(typeof eventKinds)[Name]['data']>;
type Words<Told> = (told: Told) => Html;

/** A sentence: the actor, what it did, and the subject. */
const did =
  (act: string, more = ''): Words<Told<object>> =>
  ({ by, of }) =>
    html`${by} ${act} ${of}${more}.`;

/** A sentence: the actor, and what it did to the only one of its kind. */
const acted =
  (act: string): Words<Told<object>> =>
  ({ by }) =>
    html`${by} ${act}.`;

/** The role with its article. */
const a = (role: string) => `${/^[ao]/.test(role) ? 'an' : 'a'} ${role}`;

const members = ({ data, of, by }: Told<{ members: number }>, act: string) =>
  html`${by} ${act} ${of}, with ${counted(data.members, 'member')}.`;

/** The most changes that a sentence about group sync names. */
const maxParts = 5;

type Synced = Data<'sso.groups.synced'>;

const synced: Words<Told<Synced>> = ({ of, project, data: { adds, changes, removes } }) => {
  const parts = [
    ...adds.map(({ projectId, role }) => `${a(role)} of ${project(projectId)}`),
    ...changes.map(
      ({ projectId, role, from }) => `${a(role)} of ${project(projectId)}, before ${a(from)}`,
    ),
    ...removes.map(({ projectId }) => `no longer in ${project(projectId)}`),
  ];
  const more = parts.length - maxParts;
  const some = more > 0 ? [...parts.slice(0, maxParts), `and ${more} more`] : parts;
  return html`Groups set the projects of ${of}: ${some.join('; ')}.`;
};
const unknownGroups: Words<Told<object>> = ({ of }) =>
  html`The groups of ${of} were unknown at a sign-in, so no role was changed.`;
const failedGroups: Words<Told<object>> = ({ of }) =>
  html`The groups of ${of} could not be applied at a sign-in.`;

const mapped = ({
  orgRole,
  project = 'unknown',
  role = 'unknown',
}: Omit<Data<'mapping.added'>, 'group'>) =>
  orgRole === undefined ? `${role} in the project ${project}` : `${orgRole} in the organization`;

const webhookEnds: Record<Data<'webhook.disabled'>['reason'], string> = {
  requested: '',
  gone: 'it answered that it is gone',
  failing: 'it failed for days',
  restored: 'a backup was restored',
};

const accountOf: Record<string, string> = {
  sso: 'your identity provider',
  ldap: 'your directory',
  social: 'Google or GitHub',
};

const mailOf: Partial<Record<string, string>> = {
  invitation: 'An invitation',
  setupLink: 'A setup link',
};

/** The sentence for each kind of event that an organization sees. */
export const eventWords: { [Name in SeenEventName]: Words<Told<Data<Name>>> } = {
  'organization.created': did('created the organization'),
  'organization.renamed': ({ by, of, data }) =>
    html`${by} renamed the organization from ${data.from} to ${of}.`,
  'organization.deleted': did('deleted the organization'),
  'organization.ownerless': ({ subject }) =>
    html`${subject} was the last owner. The organization has no owner now.`,

  'member.added': ({ by, of, isOwn, data: { role } }) =>
    isOwn ? html`${by} joined as ${a(role)}.` : html`${by} added ${of} as ${a(role)}.`,
  'member.second_factor.reset': did('removed the second factor of'),
  'member.role.changed': ({ by, of, isOwn, data: { to, because } }) => {
    if (because) return html`The group ${because.group} made ${of} ${a(to)}.`;
    return isOwn ? html`${by} became ${a(to)}.` : html`${by} made ${of} ${a(to)}.`;
  },
  'member.removed': ({ by, of, isOwn }) =>
    isOwn ? html`${by} left the organization.` : html`${by} removed ${of} from the organization.`,
  'invitation.created': ({ by, of, data }) => html`${by} invited ${of} as ${a(data.role)}.`,
  'invitation.accepted': ({ of, account, data }) =>
    html`${account(data.account)} accepted the invitation of ${of}, as ${a(data.role)}.`,
  'invitation.revoked': did('revoked the invitation of'),
  'setup.link.created': ({ by, data }) =>
    html`${by} created a setup link for ${partsInWords(data.parts)}.`,
  'setup.link.opened': acted('opened the link'),
  'setup.link.finished': acted('finished the setup'),
  'setup.link.revoked': acted('revoked a setup link'),
  'project.created': did('created the project'),
  'project.renamed': ({ by, of, data }) => html`${by} renamed the project ${data.from} to ${of}.`,
  'project.deleted': (told) => members(told, 'deleted the project'),
  'project.member.added': ({ by, of, data: { project, role } }) =>
    html`${by} added ${of} to the project ${project} as ${a(role)}.`,
  'project.member.role.changed': ({ by, of, data: { project, to } }) =>
    html`${by} made ${of} ${a(to)} of the project ${project}.`,
  'project.member.removed': ({ by, of, data }) =>
    html`${by} removed ${of} from the project ${data.project}.`,
  'domain.added': did('added the domain'),
  'domain.verified': did('verified the domain'),
  'domain.removed': did('removed the domain'),

  'sso.saved': acted('changed the settings of single sign-on'),
  'sso.approved': acted('approved the connection for single sign-on'),
  'sso.enabled': acted('switched single sign-on on'),
  'sso.disabled': acted('switched single sign-on off'),
  'sso.removed': acted('removed the connection for single sign-on'),
  'sso.relinked': ({ by, data }) =>
    html`${by} unlinked ${counted(data.people, 'person', 'people')} from the earlier identity provider.`,
  'sso.domain.lost': ({ data }) =>
    html`Another organization verified ${data.emailDomain}, so single sign-on no longer uses this domain.`,
  'sso.owner.refused': () =>
    html`A sign-in of an owner with single sign-on was refused, because no owner has approved the connection.`,
  'sso.signin.refused': () => html`A sign-in with single sign-on was refused.`,
  'sso.provider.failed': () => html`The identity provider could not be used.`,
  'sso.metadata.changed': () => html`The metadata of the identity provider has changed.`,
  'sso.metadata.refused': () =>
    html`The metadata URL names another identity provider, so the metadata was not taken.`,
  'sso.groups.synced': synced,
  'sso.groups.unknown': unknownGroups,
  'sso.groups.failed': failedGroups,

  'ldap.saved': acted('changed the settings of the directory'),
  'ldap.approved': acted('approved the connection to the directory'),
  'ldap.enabled': acted('switched sign-in through the directory on'),
  'ldap.disabled': acted('switched sign-in through the directory off'),
  'ldap.removed': acted('removed the connection to the directory'),
  'ldap.relinked': ({ by, data }) =>
    html`${by} unlinked ${counted(data.people, 'person', 'people')} from the earlier directory.`,
  'ldap.owner.refused': () =>
    html`A sign-in of an owner with the directory was refused, because no owner has approved the connection.`,
  'ldap.signin.refused': () => html`A sign-in with the directory was refused.`,
  'ldap.directory.failed': () => html`The directory could not be used.`,
  'ldap.bind.limited': () =>
    html`The directory refused the password of its connection too often. No more sign-ins are tried for a while.`,
  'ldap.groups.synced': synced,
  'ldap.groups.unknown': unknownGroups,
  'ldap.groups.failed': failedGroups,

  'mapping.added': ({ by, of, data }) => html`${by} gave the group ${of} the role ${mapped(data)}.`,
  'mapping.changed': ({ by, of, data }) =>
    html`${by} changed the role of the group ${of} to ${mapped(data)}. It was ${mapped(data.from)}.`,
  'mapping.removed': ({ by, of, data }) =>
    html`${by} took the role ${mapped(data)} from the group ${of}.`,
  'scim.token.created': acted('created the token for your directory (SCIM)'),
  'scim.token.rotated': acted('replaced the token for your directory (SCIM)'),
  'scim.token.revoked': acted('revoked the token for your directory (SCIM)'),
  'scim.token.suspended': () =>
    html`The token for your directory (SCIM) is suspended, because a backup was restored. Replace it.`,
  'scim.user.provisioned': ({ by, of, data }) => html`${by} added ${of} as ${a(data.role)}.`,
  'scim.user.deactivated': did('deactivated'),
  'scim.user.updated': did('changed the details of'),
  'scim.user.recorded': did('listed', ' as inactive'),
  'scim.group.created': (told) => members(told, 'created the group'),
  'scim.group.updated': ({ by, of, data: { added, removed, renamed } }) => {
    const parts = [
      renamed !== null && 'renamed',
      added > 0 && `${added} added`,
      removed > 0 && `${removed} removed`,
    ].filter((part) => part !== false);
    return html`${by} changed the group ${of}${parts.length > 0 && `: ${parts.join(', ')}`}.`;
  },
  'scim.group.deleted': (told) => members(told, 'deleted the group'),
  'scim.groups.synced': synced,
  'scim.groups.planned': ({ data: { people, changed } }) =>
    html`Groups set the roles of ${counted(people, 'person', 'people')}. Of these, ${changed} have other roles now.`,
  'scim.address.taken': ({ by, of, data: { email } }) =>
    html`${by} could not give ${of} the address ${email}, because another person has it.`,
  'signin.saved': acted('changed the sign-in settings'),
  'client.created': did('created the application'),
  'client.updated': ({ by, of, data: { fields } }) => {
    const labels = new Map(Object.entries(clientWords).map(([name, { label }]) => [name, label]));
    return html`${by} changed settings of the application ${of} (${fields.map((name) => labels.get(name) ?? name).join(', ')}).`;
  },
  'client.rotated': did('gave the application', ' a new secret'),
  'client.removed': did('removed the application'),
  'client.refused': ({ of, account, data }) =>
    data.account === undefined
      ? html`Access to the application ${of} was refused.`
      : html`${account(data.account)} was refused access to the application ${of}.`,
  'client.session.started': ({ of, account, data }) =>
    html`${account(data.account)} signed in to the application ${of}.`,
  'client.session.ended': ({ of, account, data }) =>
    html`${account(data.account)} signed out of the application ${of}.`,
  'client.reuse.detected': ({ of }) =>
    html`A code or token of the application ${of} was used twice, so everything issued with it was revoked.`,

  'webhook.added': did('added the webhook'),
  'webhook.changed': did('changed the events of the webhook'),
  'webhook.enabled': did('switched the webhook', ' on'),
  'webhook.disabled': ({ by, of, data: { reason } }) =>
    reason === 'requested'
      ? html`${by} switched the webhook ${of} off.`
      : html`The webhook ${of} was switched off, because ${webhookEnds[reason]}.`,
  'webhook.removed': did('removed the webhook'),
  'webhook.secret.rotated': did('gave the webhook', ' a new secret'),
  'webhook.delivery.retried': did('sent a message again to the webhook'),

  'identity.linked': ({ subject, data }) =>
    html`${subject} was linked to a person of ${accountOf[data.kind] ?? data.issuer}.`,
  'identity.unlinked': ({ by, of, data }) =>
    html`${by} unlinked ${of} from a person of ${accountOf[data.kind] ?? data.issuer}.`,
  'account.reclaimed': ({ of }) =>
    html`The credentials that were made for the account of ${of} before its address was verified were removed.`,
  'account.unapproved.ended': ({ subject }) =>
    html`${subject} became an owner. Credentials from a connection that no owner had approved were removed.`,
  'session.started': ({ subject, data: { method } }) =>
    html`${subject} signed in with ${method === 'ldap' ? 'your directory' : (methodNames[method] ?? method)}.`,
  'session.reuse.detected': ({ of }) =>
    html`A session of ${of} was ended, because an old copy of it was used.`,
  'user.created': ({ of }) => html`An account was created for ${of}.`,
  'app.organization.named': did('let the app', ' check the tokens of members'),
  'mail.abandoned': ({ data: { about, email } }) =>
    html`${mailOf[about] ?? 'A mail'}${email !== undefined && ` to ${email}`} could not be sent.`,
};
