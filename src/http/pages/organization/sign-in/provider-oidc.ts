import { z } from 'zod';
import { parse } from '../../../../input.ts';
import { changeSso } from '../../../../services/tenancy/sso/operations.ts';
import {
  guidedProviders,
  issuerFrom,
  providers,
} from '../../../../services/tenancy/sso/providers.ts';
import { ssoWords } from '../../../../services/tenancy/sso/words.ts';
import { usualBody } from '../../../body/limits.ts';
import { html } from '../../html.ts';
import { field } from '../../parts.ts';
import type { ProviderForm } from './provider-kind.ts';

const provider = z.enum([...guidedProviders, 'other']);
/** The issuer, by the name of the field from which it follows. */
const asField = z.object({ providerValue: changeSso.input.shape.issuer });

const input = z.strictObject({
  org: changeSso.input.shape.org,
  provider,
  replaces: changeSso.input.shape.kind,
  providerValue: z.string().max(500).optional(),
  emailDomain: z.string().max(300),
  clientId: z.string().max(500),
  clientSecret: z.string().max(2000).optional(),
  untested: z.boolean().optional(),
});

/** The form of an OpenID provider: the value that it shows, and the client there. */
export const oidcForm: ProviderForm<typeof input> = {
  kind: 'oidc',
  path: 'set',
  when: 'Choose this if your provider offers both. You copy a client ID and a secret from the provider.',
  provider,
  guides: providers,
  input,
  whole: [],
  bytes: usualBody.bytes,
  settingsOf: ({ provider: name, providerValue, emailDomain, clientId, clientSecret }) => {
    const issuer = issuerFrom(name, providerValue, 'providerValue');
    parse(asField, { providerValue: issuer });
    // Spaces alone are refused, not taken as empty.
    const bare = (text: string | undefined) => text?.trim() || text;
    return { emailDomain, issuer, clientId: bare(clientId), clientSecret: bare(clientSecret) };
  },
  placesOf: ({ config }, _organizationId, own) => {
    const value = own?.redirectUri ?? `${config.baseUrl}/auth/sso/callback`;
    return [{ name: 'redirectUri', label: ssoWords.redirectUri.label, value }];
  },
  labelsOf: ({ title, value }) => ({ providerValue: value?.label ?? title }),
  fieldsOf: (draft, { name, guide: { value }, own }) => {
    const asked =
      value &&
      field(draft, {
        ...{ name: 'providerValue', label: value.label, note: value.note },
        ...{ autocomplete: 'off', verbatim: true, maxLength: 500 },
        value: name === 'other' ? own?.issuer : undefined,
      });
    const isStored = own !== null;
    const secretNote = isStored
      ? 'Without it, the stored one stays. A new provider or client ID needs it again.'
      : 'It is stored encrypted, and not shown again.';
    return html`${asked}
${field(draft, { name: 'clientId', label: ssoWords.clientId.label, note: 'The ID of the application that you created there.', autocomplete: 'off', verbatim: true, maxLength: 500, value: own?.clientId })}
${field(draft, { name: 'clientSecret', label: ssoWords.clientSecret.label, note: secretNote, type: 'password', autocomplete: 'off', maxLength: 2000, ...(isStored && { optional: true }) })}`;
  },
};
