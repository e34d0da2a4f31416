import type { Element } from '@xmldom/xmldom';
import { attributeOf, childrenNamed, textOf } from './document.ts';
import { nameIdFormats, ns } from './names.ts';
import { samlRefused } from './refusal.ts';
import type { SamlAttribute, SamlProof } from './saml.ts';

/** The NameID of a subject; null if it has none. Refuses one that contains anything but text. */
export function nameIdOf(subject: Element): SamlProof['nameId'] {
  const [nameId, ...more] = childrenNamed(subject, ns.assertion, 'NameID');
  if (nameId === undefined) return null;
  const value = textOf(nameId);
  if (!value || more.length > 0) throw samlRefused('assertion', 'name_id_malformed');
  return { value, format: attributeOf(nameId, 'Format') ?? nameIdFormats.unspecified };
}

// Some providers write the formats of SAML 1.1 with the prefix of 2.0.
const formats = /^urn:oasis:names:tc:SAML:(?:1\.1|2\.0):nameid-format:(\w+)$/;
const lasting = ['persistent', 'unspecified', 'emailAddress'];

/** Who signed in: the NameID, or the one value of the attribute that the connection names. */
export function subjectOf(
  nameId: SamlProof['nameId'],
  attributes: SamlAttribute[],
  subjectAttribute: string | null,
): string {
  const subject =
    subjectAttribute === null ? lastingName(nameId) : onlyValue(attributes, subjectAttribute);
  if (subject === '' || subject.length > 255 || /\p{Cc}/u.test(subject))
    throw samlRefused('assertion', 'subject_malformed');
  return subject;
}

function lastingName(nameId: SamlProof['nameId']): string {
  if (nameId === null) throw samlRefused('assertion', 'subject_missing');
  const [, format = ''] = formats.exec(nameId.format) ?? [];
  if (format === 'transient') throw samlRefused('assertion', 'name_id_transient');
  if (!lasting.includes(format)) throw samlRefused('assertion', 'name_id_format_refused');
  return nameId.value;
}

function onlyValue(attributes: SamlAttribute[], wanted: string): string {
  const [value, ...more] = attributes
    .filter(({ name, friendlyName }) => name === wanted || friendlyName === wanted)
    .flatMap(({ values }) => values);
  if (value === undefined || more.length > 0) throw samlRefused('assertion', 'subject_missing');
  return value;
}
