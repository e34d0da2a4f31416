import {
  type guidedProviders,
  guidesCheckedOn,
  providers,
} from '../../src/services/tenancy/sso/providers.ts';

import {
  type guidedSamlProviders,
  samlProviders,
} from '../../src/services/tenancy/sso/saml-providers.ts';

type Name = (typeof guidedProviders)[number];

const options: Record<Name, string> = {
  entra: ' --tenant 8eaef023-2b34-4da1-9baa-8bc8c9d6a490',
  okta: ' --tenant acme.okta.com',
  google: '',
  keycloak: ' --provider-url https://id.acme.com/realms/acme',
  auth0: ' --tenant acme.eu.auth0.com',
};

/** The page of the documentation about a provider by SAML, from the steps that the pages show. */
export function samlGuideOf(name: (typeof guidedSamlProviders)[number]): string {
  const { title, steps, groups, source, metadata } = samlProviders[name];
  const ours = 'https://id.example.com/auth/saml/ORGANIZATION-ID';
  const numbered = steps.map(
    (step, at) =>
      `${at + 1}. ${step.replaceAll('{entityId}', `${ours}/metadata`).replaceAll('{acsUrl}', `${ours}/acs`)}`,
  );
  return `# ${title} by SAML

Use this page to let people sign in with ${title} by [SAML](../saml.md). Verify your [e-mail domain](../signin.md#set-up-a-way-to-sign-in) first.

## At ${title}

The page of the connection shows these addresses with the id of your organization, and \`idctl org list\` shows the id.

${numbered.join('\n')}

## In idctl

In a browser, open **Sign-in**, **Single sign-on**, choose **SAML**, and then ${title}. The page asks for:

- **Metadata URL**: ${metadata}
- **E-mail domain**: your verified domain.

On the command line, give the file with the metadata, or its URL in place of the file:

\`\`\`sh
idctl sso set --org acme --domain acme.com --saml-metadata metadata.xml
idctl sso test --org acme
idctl sso enable --org acme
\`\`\`

If a step or a sign-in fails, [the table](../saml.md#if-a-step-of-the-test-fails) says what to change.

## Groups

${groups}

To turn groups into roles, see \`idctl mappings --help\`.

${sourceOf(title, source)}`;
}

/** The page of the documentation about a provider, from the steps that the pages show. */
export function guideOf(name: Name): string {
  const { title, steps, groups, source, value } = providers[name];
  const numbered = steps.map(
    (step, at) =>
      `${at + 1}. ${step.replace('{redirectUri}', 'https://id.example.com/auth/sso/callback')}`,
  );
  const asked = value === undefined ? '' : `- **${value.label}**: ${value.note}\n`;
  return `# ${title}

Use this page to let people sign in with ${title}. Verify your [e-mail domain](../signin.md#set-up-a-way-to-sign-in) first.

## At ${title}

The redirect URI is the address of your idctl, followed by \`/auth/sso/callback\`.

${numbered.join('\n')}

## In idctl

In a browser, open **Sign-in**, **Single sign-on**, choose **OpenID Connect**, and then ${title}. The page asks for:

${asked}- **Client ID** and **Client secret**: the values that you copied.
- **E-mail domain**: your verified domain.

On the command line, this asks for the client secret:

\`\`\`sh
idctl sso set --org acme --domain acme.com --provider ${name}${options[name]} \\
  --client-id CLIENT_ID
idctl sso test --org acme
idctl sso enable --org acme
\`\`\`

## Groups

${groups}

To turn groups into roles, see \`idctl mappings --help\`.

${sourceOf(title, source)}`;
}

function sourceOf(title: string, source: string): string {
  return `## Source

These steps follow the [documentation of the provider](${source}), as of ${guidesCheckedOn}. They were not run against
${title}: names on its pages may have changed. \`idctl sso test\` says what is wrong.
`;
}
