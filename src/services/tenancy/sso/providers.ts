import { refuseField } from '../../../errors.ts';

// What an admin does at each provider, and the issuer that follows from the value that the provider
// shows. Pages, the command line and `docs/providers/` share it. It imports no schema, because the
// command line imports it when it starts.

/** The providers with steps of their own. */
export const guidedProviders = ['entra', 'okta', 'google', 'keycloak', 'auth0'] as const;

/** A provider with steps of its own, or any other. */
export type ProviderName = (typeof guidedProviders)[number] | 'other';

/** The day on which the steps were compared with the documentation of the providers. */
export const guidesCheckedOn = '2026-11-28';

interface Provider {
  title: string;
  /** The documentation of the provider that the steps follow. */
  source: string;
  /** The value from which the issuer follows; absent if there is only one issuer. */
  value?: { label: string; note: string };
  /** The issuer for that value. Refuses a value that cannot be right. */
  issuerOf: (value: string) => string;
  /** What to do at the provider. `{redirectUri}` stands for the redirect URI of the instance. */
  steps: string[];
  /** How the provider sends groups. */
  groups: string;
}

const guid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const sharedTenants = new Set(['common', 'organizations', 'consumers']);

/** The providers, in the order in which people choose from them. */
export const providers: Record<ProviderName, Provider> = {
  entra: {
    title: 'Microsoft Entra ID',
    source: 'https://learn.microsoft.com/entra/identity-platform/quickstart-register-app',
    value: {
      label: 'Directory (tenant) ID',
      note: 'It is on the overview of the app registration, such as 8eaef023-2b34-4da1-9baa-8bc8c9d6a490.',
    },
    issuerOf: entraIssuer,
    steps: [
      'In the Microsoft Entra admin center, open **App registrations** and choose **New registration**.',
      'Enter a name, and choose accounts in this organizational directory only (single tenant).',
      'Below **Redirect URI**, choose **Web**, enter `{redirectUri}`, and choose **Register**.',
      'From **Overview**, copy the **Application (client) ID** and the **Directory (tenant) ID**.',
      'Open **Certificates & secrets**, add a **New client secret**, and copy its **Value**. Note when it expires.',
      'Open **Token configuration**, choose **Add optional claim**, **ID**, and add `email`.',
    ],
    groups:
      'Choose **Add groups claim** in **Token configuration**. Entra ID sends the object IDs of the groups, so the mappings name these IDs.',
  },
  okta: {
    title: 'Okta',
    source: 'https://help.okta.com/en-us/content/topics/apps/apps_app_integration_wizard_oidc.htm',
    value: {
      label: 'Okta domain',
      note: 'The address of your Okta, such as acme.okta.com or login.acme.com, or only acme.',
    },
    issuerOf: (value) => {
      const given = value.replace(/-admin(?=$|\.okta)/, '');
      return pasted(given) ?? `https://${hostIn(given, 'okta.com')}`;
    },
    steps: [
      'In the Admin Console, open **Applications**, **Applications**, and choose **Create App Integration**.',
      'Choose **OIDC - OpenID Connect** and **Web Application**.',
      'Below **Sign-in redirect URIs**, enter `{redirectUri}`.',
      'Assign the people or groups who may sign in, and choose **Save**.',
      'From **General**, copy the **Client ID** and the **Client secret**.',
    ],
    groups:
      'On the tab **Sign On**, edit **OpenID Connect ID Token**, and add a groups claim filter: `groups`, **Matches regex**, `.*`.',
  },
  google: {
    title: 'Google Workspace',
    source: 'https://support.google.com/cloud/answer/15549257',
    issuerOf: () => 'https://accounts.google.com',
    steps: [
      'In the Google Cloud console, choose a project of your organization, and open **Google Auth Platform**.',
      'If it is not configured yet, choose **Get started**, enter a name, and choose the audience **Internal**.',
      'Open **Clients**, choose **Create client**, and the type **Web application**.',
      'Below **Authorized redirect URIs**, enter `{redirectUri}`, and choose **Create**.',
      'Copy the **Client ID** and the **Client secret**.',
    ],
    groups: 'Google does not send groups. Use SCIM, or give roles by hand.',
  },
  keycloak: {
    title: 'Keycloak',
    source: 'https://www.keycloak.org/docs/latest/server_admin/',
    value: {
      label: 'Realm URL',
      note: 'The address of the realm, such as https://id.acme.com/realms/acme.',
    },
    issuerOf: keycloakIssuer,
    steps: [
      'In the Keycloak admin console, choose the realm, open **Clients**, and choose **Create client**.',
      'Choose **OpenID Connect**, enter a client ID, and choose **Next**.',
      'Turn **Client authentication** on, keep **Standard flow**, and choose **Next**.',
      'Below **Valid redirect URIs**, enter `{redirectUri}`, and choose **Save**.',
      'From **Credentials**, copy the **Client Secret**.',
    ],
    groups:
      'On the tab **Client scopes**, open the dedicated scope, add a mapper **Group Membership** with the token claim name `groups`, and turn **Full group path** off.',
  },
  auth0: {
    title: 'Auth0',
    source: 'https://auth0.com/docs/get-started/applications/application-settings',
    value: {
      label: 'Domain',
      note: 'It is in the settings of the application, such as acme.eu.auth0.com or login.acme.com.',
    },
    issuerOf: (value) => pasted(value) ?? `https://${auth0Host(value)}/`,
    steps: [
      'In the Auth0 dashboard, open **Applications**, **Applications**, and choose **Create Application**.',
      'Enter a name, choose **Regular Web Applications**, and choose **Create**.',
      'On the tab **Settings**, enter `{redirectUri}` below **Allowed Callback URLs**, and choose **Save**.',
      'From the same tab, copy the **Domain**, the **Client ID** and the **Client Secret**.',
    ],
    groups:
      'Auth0 does not send groups by itself. An action of the login flow can add them to the ID token as a claim.',
  },
  other: {
    title: 'Another provider',
    source: 'https://openid.net/specs/openid-connect-discovery-1_0.html',
    value: {
      label: 'Issuer URL',
      note: 'Its discovery document is at this address, followed by /.well-known/openid-configuration.',
    },
    issuerOf: (value) => pasted(value) ?? refuse('must be a URL that begins with https://'),
    steps: [
      'At your provider, create an application for OpenID Connect: a confidential web application with the authorization code flow.',
      'As its redirect URI, enter `{redirectUri}`.',
      'Let it send the claims `email` and `email_verified`.',
      'Copy the issuer URL, the client ID and the client secret.',
    ],
    groups: 'If the provider sends groups, enter the name of their claim in the connection.',
  },
};

/** The issuer that follows from what the provider shows. A wrong value is refused as `field`. */
export function issuerFrom(name: ProviderName, value: string | undefined, field: string): string {
  const { value: asked, issuerOf } = providers[name];
  const given = value?.trim() ?? '';
  if (asked !== undefined && given === '') throw refuseField(field, 'is required');
  try {
    return issuerOf(given);
  } catch (error) {
    throw error instanceof WrongValue ? refuseField(field, error.message) : error;
  }
}

class WrongValue extends Error {}

function refuse(message: string): never {
  throw new WrongValue(message);
}

/** A pasted issuer or address of a discovery document; null for another text. */
function pasted(value: string): string | null {
  if (!/^https?:\/\//i.test(value)) return null;
  return value.replace(/\/\.well-known\/openid-configuration\/?$/, '');
}

function entraIssuer(value: string): string {
  const issuer = pasted(value);
  const tenant = issuer === null ? value : /^https?:\/\/[^/]+\/([^/]*)/.exec(issuer)?.[1];
  if (!tenant || sharedTenants.has(tenant.toLowerCase()))
    refuse('must be the ID of your own tenant, so that only its people sign in');
  if (issuer !== null) return issuer;
  if (!guid.test(tenant)) refuse('must be an ID such as 8eaef023-2b34-4da1-9baa-8bc8c9d6a490');
  return `https://login.microsoftonline.com/${tenant.toLowerCase()}/v2.0`;
}

function keycloakIssuer(value: string): string {
  const issuer = pasted(value)?.replace(/\/$/, '');
  if (issuer === undefined || !/\/realms\/[^/]+$/.test(issuer))
    refuse('must be the address of a realm, such as https://id.acme.com/realms/acme');
  return issuer;
}

function auth0Host(value: string): string {
  const isRegional = /^[a-z0-9-]+\.(us|eu|au|jp|uk|ca)$/i.test(value);
  return isRegional ? `${value.toLowerCase()}.auth0.com` : hostIn(value, 'us.auth0.com');
}

/** A whole host as it is, in small letters; a name alone as a host of the provider. */
function hostIn(value: string, provider: string): string {
  const name = value.toLowerCase().replace(/\/$/, '');
  if (/^[a-z0-9-]+$/.test(name)) return `${name}.${provider}`;
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(name)) return name;
  return refuse('must be a host name, such as login.acme.com');
}
