import type { Model, ModelStatic, Sequelize } from 'sequelize';
import { AccessToken } from './access-token.ts';
import { Account } from './account.ts';
import { AccountBrowser } from './account-browser.ts';
import { OAuthApp } from './app.ts';
import { Client, ClientOrigin } from './client.ts';
import { bind } from './columns.ts';
import { Counter } from './counter.ts';
import { Daemon } from './daemon.ts';
import { Domain } from './domain.ts';
import { Erasure } from './erasure.ts';
import { Event } from './event.ts';
import { FormerAddress } from './former-address.ts';
import { GroupMapping } from './group-mapping.ts';
import { HostSession, HostTicket } from './host-session.ts';
import { Identity } from './identity.ts';
import { InstanceKey } from './instance-key.ts';
import { Invitation } from './invitation.ts';
import { KeyCanary } from './key-canary.ts';
import { LdapConnection } from './ldap-connection.ts';
import { LoginLink } from './login-link.ts';
import { MailCode } from './mail-code.ts';
import { Membership } from './membership.ts';
import { Organization } from './organization.ts';
import { OutboxItem } from './outbox-item.ts';
import { Passkey } from './passkey.ts';
import { PendingSignIn } from './pending-sign-in.ts';
import { Project } from './project.ts';
import { ProjectMembership } from './project-membership.ts';
import { ClientSignOut, ProviderRecord } from './provider-record.ts';
import { RecoveryCode } from './recovery-code.ts';
import { RefreshToken } from './refresh-token.ts';
import { SamlAnswer } from './saml-answer.ts';
import { SamlKey } from './saml-key.ts';
import { ScimGroup, ScimGroupMember, ScimReplan } from './scim-group.ts';
import { ScimEmail, ScimRecord, ScimShift } from './scim-record.ts';
import { ScimRequest } from './scim-request.ts';
import { ScimToken } from './scim-token.ts';
import { Session } from './session.ts';
import { SetupLink } from './setup-link.ts';
import { SignInSettings } from './sign-in-settings.ts';
import { SigningKey } from './signing-key.ts';
import { SpentState } from './spent-state.ts';
import { SsoAttempt } from './sso-attempt.ts';
import { SsoConnection } from './sso-connection.ts';
import { Sweep } from './sweep.ts';
import { Tombstone } from './tombstone.ts';
import { Webhook } from './webhook.ts';
import { WebhookDelivery } from './webhook-delivery.ts';

const models = [
  Account,
  Organization,
  Membership,
  Tombstone,
  FormerAddress,
  Project,
  ProjectMembership,
  Identity,
  Session,
  RefreshToken,
  Event,
  Erasure,
  OutboxItem,
  SigningKey,
  SamlKey,
  KeyCanary,
  InstanceKey,
  Domain,
  SsoConnection,
  SpentState,
  SamlAnswer,
  GroupMapping,
  Counter,
  SsoAttempt,
  OAuthApp,
  AccessToken,
  Passkey,
  RecoveryCode,
  AccountBrowser,
  PendingSignIn,
  ScimToken,
  ScimRecord,
  ScimEmail,
  ScimShift,
  ScimRequest,
  ScimGroup,
  ScimGroupMember,
  ScimReplan,
  LdapConnection,
  MailCode,
  Invitation,
  SetupLink,
  SignInSettings,
  LoginLink,
  Webhook,
  WebhookDelivery,
  Daemon,
  Sweep,
  ProviderRecord,
  ClientSignOut,
  Client,
  ClientOrigin,
  HostTicket,
  HostSession,
];

/** Binds all models to the open database. Only this function defines associations. */
export function initModels(sequelize: Sequelize): void {
  for (const model of models) bind(model, sequelize);
  belongs(Membership, Account, 'account');
  belongs(Membership, Organization, 'organization');
  belongs(Invitation, Organization, 'organization');
  Project.hasMany(ProjectMembership, {
    as: 'memberships',
    foreignKey: 'projectId',
    onUpdate: 'NO ACTION',
  });
  belongs(ProjectMembership, Project, 'project');
  belongs(ProjectMembership, Account, 'account');
  belongs(Identity, Account, 'account');
  belongs(ScimRecord, Account, 'account');
  Account.hasMany(Membership, {
    as: 'memberships',
    foreignKey: 'accountId',
    onUpdate: 'NO ACTION',
  });
  belongs(AccessToken, Account, 'account');
  belongs(AccessToken, OAuthApp, 'app');
  belongs(OAuthApp, Account, 'account');
  belongs(OAuthApp, Organization, 'organization');
  belongs(GroupMapping, Project, 'project');
  belongs(Client, Organization, 'organization');
  belongs(Client, Project, 'project');
  Client.hasMany(ClientOrigin, { as: 'origins', foreignKey: 'clientId', onUpdate: 'NO ACTION' });
}

function belongs(model: ModelStatic<Model>, to: ModelStatic<Model>, as: string): void {
  model.belongsTo(to, { as, foreignKey: `${as}Id`, onUpdate: 'NO ACTION' });
}
