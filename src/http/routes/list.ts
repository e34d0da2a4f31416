import type { Route } from '../route.ts';
import { appRoutes } from './apps.ts';
import { authRoutes } from './auth.ts';
import { clientRoutes } from './clients.ts';
import { documentRoutes } from './document.ts';
import { domainRoutes } from './domains.ts';
import { healthRoutes } from './health.ts';
import { invitationRoutes } from './invitations.ts';
import { ldapRoutes } from './ldap.ts';
import { mailCodeRoutes } from './mail-codes.ts';
import { mappingRoutes } from './mappings.ts';
import { meRoutes } from './me.ts';
import { memberRoutes } from './members.ts';
import { organizationRoutes } from './organizations.ts';
import { passkeyRoutes } from './passkeys.ts';
import { projectRoutes } from './projects.ts';
import { keyRoutes } from './reference.ts';
import { scimRoutes } from './scim.ts';
import { setupLinkRoutes } from './setup-links.ts';
import { signInRoutes } from './signin.ts';
import { socialRoutes } from './social.ts';
import { ssoRoutes } from './sso.ts';
import { tokenRoutes } from './tokens.ts';
import { twoFactorRoutes } from './two-factor.ts';
import { webhookRoutes } from './webhooks.ts';

/** Every route of an operation. The remote command line imports it, so it must not load Express. */
export const operationRoutes: Route[] = [
  ...healthRoutes,
  ...keyRoutes,
  ...authRoutes,
  ...mailCodeRoutes,
  ...meRoutes,
  ...organizationRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...setupLinkRoutes,
  ...projectRoutes,
  ...domainRoutes,
  ...ssoRoutes,
  ...ldapRoutes,
  ...signInRoutes,
  ...socialRoutes,
  ...scimRoutes,
  ...mappingRoutes,
  ...webhookRoutes,
  ...clientRoutes,
  ...documentRoutes,
  ...tokenRoutes,
  ...twoFactorRoutes,
  ...passkeyRoutes,
  ...appRoutes,
];
