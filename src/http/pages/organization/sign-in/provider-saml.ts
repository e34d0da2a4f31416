import { z } from 'zod';
import { refuseField } from '../../../../errors.ts';
import { changeSso } from '../../../../services/tenancy/sso/operations.ts';
import { ourSaml } from '../../../../services/tenancy/sso/our-party.ts';
import {
  guidedSamlProviders,
  samlProviders,
} from '../../../../services/tenancy/sso/saml-providers.ts';
import { maxMetadata } from '../../../../services/tenancy/sso/schema.ts';
import { ssoWords } from '../../../../services/tenancy/sso/words.ts';
import { bytesOfMetadataForm } from '../../../body/limits.ts';
import { html } from '../../html.ts';
import { area, field } from '../../parts.ts';
import type { ProviderForm, Stored } from './provider-kind.ts';
import { settingField } from './setting.ts';

const provider = z.enum([...guidedSamlProviders, 'other']);
const attributeNames = ['emailAttribute', 'groupsAttribute', 'subjectAttribute'] as const;
const { shape } = changeSso.input;

const input = z.strictObject({
  org: shape.org,
  provider,
  replaces: shape.kind,
  metadataUrl: z.string().max(2000).optional(),
  metadataXml: shape.metadataXml,
  emailDomain: z.string().max(300),
  emailAttribute: shape.emailAttribute,
  groupsAttribute: shape.groupsAttribute,
  subjectAttribute: shape.subjectAttribute,
  encryptAssertions: shape.encryptAssertions,
  untested: z.boolean().optional(),
});

const labels = { metadataUrl: 'Metadata URL', metadataXml: 'Metadata as text' };

/** The form of a SAML provider: its metadata, and which attributes idctl reads. */
export const samlForm: ProviderForm<typeof input> = {
  kind: 'saml',
  path: 'saml',
  when: 'Choose this if your provider offers nothing else. You copy the URL of its metadata, or paste the metadata.',
  provider,
  guides: samlProviders,
  input,
  whole: attributeNames,
  bytes: bytesOfMetadataForm,
  settingsOf: (
    { org: _, provider: __, replaces, untested, metadataUrl, metadataXml, ...given },
    own,
  ) => ({
    ...given,
    ...metadataOf({ url: metadataUrl?.trim(), text: metadataXml }, own),
  }),
  placesOf: (ctx, organizationId, _own) => samlPlaces(ctx, organizationId),
  labelsOf: () => labels,
  fieldsOf: (draft, { guide, own }) => {
    const isText = own?.metadataUrl === null;
    const textNote = isText
      ? 'Without it and without a URL, the stored metadata stays.'
      : 'In place of the URL: the text of the metadata file, which begins with <EntityDescriptor or <?xml.';
    const settings = [...attributeNames, 'encryptAssertions'] as const;
    const fields = settings.map((name) =>
      settingField(
        draft,
        name,
        { words: ssoWords[name], schema: shape[name], value: own?.[name] ?? defaults[name] },
        { optional: true },
      ),
    );
    return html`${field(draft, {
      ...{ name: 'metadataUrl', label: labels.metadataUrl, optional: true },
      note: `${guide.metadata} It is read every day, so a new certificate there is known here.`,
      ...{ autocomplete: 'off', verbatim: true, maxLength: 1000, value: own?.metadataUrl },
    })}
${area(draft, { name: 'metadataXml', label: labels.metadataXml, note: textNote, optional: true, maxLength: maxMetadata })}
${fields}`;
  },
};

const defaults = {
  emailAttribute: null,
  groupsAttribute: null,
  subjectAttribute: null,
  encryptAssertions: false,
};

/** What to enter at a SAML provider. */
export function samlPlaces(ctx: Parameters<typeof ourSaml>[0], organizationId: string) {
  const { entityId, acsUrl } = ourSaml(ctx, organizationId);
  return [
    { name: 'entityId', label: 'Entity ID', value: entityId },
    { name: 'acsUrl', label: 'ACS URL', value: acsUrl },
    { name: 'metadataUrl', label: 'Metadata URL', value: entityId },
  ];
}

/** The metadata that the form gives: a URL or a text. Without both, a stored text stays. */
function metadataOf(
  { url, text }: { url: string | undefined; text: string | undefined },
  own: Stored,
) {
  if (url && text !== undefined) {
    const advice = 'Empty the URL to use the text.';
    throw refuseField('metadataXml', 'cannot be combined with the URL', advice);
  }
  if (url) return { metadataUrl: url };
  if (text !== undefined) return { metadataXml: text };
  if (own?.metadataUrl === null) return {};
  throw refuseField('metadataUrl', 'is required, unless you paste the metadata');
}
