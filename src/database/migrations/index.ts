import { first } from './0001-first.ts';
import { ssoAttempts } from './0002-sso-attempts.ts';
import { counters } from './0003-counters.ts';
import { projects } from './0004-projects.ts';
import { accessTokens } from './0005-access-tokens.ts';
import { twoFactor } from './0006-two-factor.ts';
import { groupMappings } from './0008-group-mappings.ts';
import { scim } from './0009-scim.ts';
import { ldap } from './0010-ldap.ts';
import { apps } from './0011-apps.ts';
import { mailCodes } from './0012-mail-codes.ts';
import { invitations } from './0013-invitations.ts';
import { signInSettings } from './0014-sign-in-settings.ts';
import { loginLinks } from './0015-login-links.ts';
import { webhooks } from './0016-webhooks.ts';
import {
  addTokenScopes,
  appOrganizations,
  attemptReferences,
  daemons,
  formerKeys,
  narrowIndexes,
  operatorInDeliveries,
  replacedSignUps,
  sealedAccounts,
  suspensions,
  vouchedTokens,
  waitingSignUps,
} from './0018-0032-additions.ts';
import { clients } from './0033-clients.ts';
import { providerRecords } from './0034-provider-records.ts';
import { scimGroups } from './0035-scim-groups.ts';
import { passkeys } from './0036-passkeys.ts';
import { connectionApproval } from './0037-connection-approval.ts';
import { unapproved } from './0038-unapproved.ts';
import { organizationCreators } from './0039-organization-creators.ts';
import { suspendedPasskeys } from './0040-suspended-passkeys.ts';
import { sweeps } from './0041-sweeps.ts';
import { recoveryCodes } from './0042-recovery-codes.ts';
import { homeUrls } from './0043-home-urls.ts';
import { erasures } from './0044-erasures.ts';
import { accountBrowsers } from './0045-account-browsers.ts';
import { formerAddresses } from './0046-former-addresses.ts';
import { eventKinds } from './0047-event-kinds.ts';
import { setupLinks } from './0048-setup-links.ts';
import { daemonProxies } from './0049-daemon-proxies.ts';
import { samlKeys } from './0050-saml-keys.ts';
import { samlConnections } from './0051-saml-connections.ts';
import { samlAnswers } from './0052-saml-answers.ts';
import { metadataTries } from './0053-metadata-tries.ts';
import { owners } from './0054-owners.ts';
import type { Migration } from './migration.ts';

/** Every migration in the order of release. Append only. */
export const migrations: readonly Migration[] = [
  first,
  ssoAttempts,
  counters,
  projects,
  accessTokens,
  twoFactor,
  groupMappings,
  scim,
  ldap,
  apps,
  mailCodes,
  invitations,
  signInSettings,
  loginLinks,
  webhooks,
  suspensions,
  replacedSignUps,
  addTokenScopes,
  formerKeys,
  appOrganizations,
  waitingSignUps,
  operatorInDeliveries,
  attemptReferences,
  daemons,
  vouchedTokens,
  sealedAccounts,
  narrowIndexes,
  clients,
  providerRecords,
  scimGroups,
  passkeys,
  connectionApproval,
  unapproved,
  organizationCreators,
  suspendedPasskeys,
  sweeps,
  recoveryCodes,
  homeUrls,
  erasures,
  accountBrowsers,
  formerAddresses,
  eventKinds,
  setupLinks,
  daemonProxies,
  samlKeys,
  samlConnections,
  samlAnswers,
  metadataTries,
  owners,
];
