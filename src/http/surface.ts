import { authenticate } from '../services/people/authentication/authenticate.ts';
import { pages } from './pages/list.ts';
import type { Route } from './route.ts';
import { appRoutes } from './routes/apps.ts';
import { authRoutes } from './routes/auth.ts';
import { documentRoutes } from './routes/document.ts';
import { domainRoutes } from './routes/domains.ts';
import { healthRoutes } from './routes/health.ts';
import { invitationRoutes } from './routes/invitations.ts';
import { ldapRoutes } from './routes/ldap.ts';
import { mailCodeRoutes } from './routes/mail-codes.ts';
import { mappingRoutes } from './routes/mappings.ts';
import { meRoutes } from './routes/me.ts';
import { memberRoutes } from './routes/members.ts';
import { organizationRoutes } from './routes/organizations.ts';
import { projectRoutes } from './routes/projects.ts';
import { keyRoutes, referenceRoutes } from './routes/reference.ts';
import { scimRoutes } from './routes/scim.ts';
import { signInRoutes } from './routes/signin.ts';
import { socialRoutes } from './routes/social.ts';
import { ssoRoutes } from './routes/sso.ts';
import { tokenRoutes } from './routes/tokens.ts';
import { twoFactorRoutes } from './routes/two-factor.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import type { Surface } from './server.ts';

const operations: Route[] = [
  ...healthRoutes,
  ...keyRoutes,
  ...authRoutes,
  ...mailCodeRoutes,
  ...meRoutes,
  ...organizationRoutes,
  ...memberRoutes,
  ...invitationRoutes,
  ...projectRoutes,
  ...domainRoutes,
  ...ssoRoutes,
  ...ldapRoutes,
  ...signInRoutes,
  ...socialRoutes,
  ...scimRoutes,
  ...mappingRoutes,
  ...webhookRoutes,
  ...documentRoutes,
  ...tokenRoutes,
  ...twoFactorRoutes,
  ...appRoutes,
];

/** Everything that idctl answers over HTTP. */
export const surface: Surface = {
  routes: [...operations, ...referenceRoutes(operations)],
  pages,
  authenticate,
};
