import type { Model, ModelStatic, Sequelize } from 'sequelize';
import { AccessToken, initAccessToken } from './access-token.ts';
import { Account, initAccount } from './account.ts';
import { initOAuthApp, OAuthApp } from './app.ts';
import { Client, ClientOrigin, initClient } from './client.ts';
import { initCounter } from './counter.ts';
import { initDaemon } from './daemon.ts';
import { initDomain } from './domain.ts';
import { initEvent } from './event.ts';
import { GroupMapping, initGroupMapping } from './group-mapping.ts';
import { initHostSession } from './host-session.ts';
import { Identity, initIdentity } from './identity.ts';
import { Invitation, initInvitation } from './invitation.ts';
import { initKeyCanary } from './key-canary.ts';
import { initLdapConnection } from './ldap-connection.ts';
import { initLoginLink } from './login-link.ts';
import { initMailCode } from './mail-code.ts';
import { initMembership, Membership } from './membership.ts';
import { initOrganization, Organization } from './organization.ts';
import { initOutboxItem } from './outbox-item.ts';
import { initPasskey } from './passkey.ts';
import { initPendingSignIn } from './pending-sign-in.ts';
import { initProject, Project } from './project.ts';
import { initProjectMembership, ProjectMembership } from './project-membership.ts';
import { initProviderRecord } from './provider-record.ts';
import { initRefreshToken } from './refresh-token.ts';
import { initScimGroup, initScimGroupMember, initScimReplan } from './scim-group.ts';
import { initScimEmail, initScimRecord, initScimShift, ScimRecord } from './scim-record.ts';
import { initScimRequest } from './scim-request.ts';
import { initScimToken } from './scim-token.ts';
import { initSession, Session } from './session.ts';
import { initSignInSettings } from './sign-in-settings.ts';
import { initSigningKey } from './signing-key.ts';
import { initSpentState } from './spent-state.ts';
import { initSsoAttempt } from './sso-attempt.ts';
import { initSsoConnection } from './sso-connection.ts';
import { initTombstone } from './tombstone.ts';
import { initWebhook } from './webhook.ts';
import { initWebhookDelivery } from './webhook-delivery.ts';

/** Binds all models to the open database. Only this function defines associations. */
export function initModels(sequelize: Sequelize): void {
  initAccount(sequelize);
  initOrganization(sequelize);
  initMembership(sequelize);
  initTombstone(sequelize);
  initProject(sequelize);
  initProjectMembership(sequelize);
  initIdentity(sequelize);
  initSession(sequelize);
  initRefreshToken(sequelize);
  initEvent(sequelize);
  initOutboxItem(sequelize);
  initSigningKey(sequelize);
  initKeyCanary(sequelize);
  initDomain(sequelize);
  initSsoConnection(sequelize);
  initSpentState(sequelize);
  initGroupMapping(sequelize);
  initCounter(sequelize);
  initSsoAttempt(sequelize);
  initOAuthApp(sequelize);
  initAccessToken(sequelize);
  initPasskey(sequelize);
  initPendingSignIn(sequelize);
  initScimToken(sequelize);
  initScimRecord(sequelize);
  initScimEmail(sequelize);
  initScimShift(sequelize);
  initScimRequest(sequelize);
  initScimGroup(sequelize);
  initScimGroupMember(sequelize);
  initScimReplan(sequelize);
  initLdapConnection(sequelize);
  initMailCode(sequelize);
  initInvitation(sequelize);
  initSignInSettings(sequelize);
  initLoginLink(sequelize);
  initWebhook(sequelize);
  initWebhookDelivery(sequelize);
  initDaemon(sequelize);
  initProviderRecord(sequelize);
  initClient(sequelize);
  initHostSession(sequelize);
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
  belongs(Session, Account, 'account');
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
