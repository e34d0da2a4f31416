import type { Mutation } from './table.ts';

type Case = [without: string, from: string, to: string, named: string];

/** The mutations of one file of SAML, whose tests are in one file too. */
function of(file: string, test: string, cases: Case[]): Mutation[] {
  return cases.map(([without, from, to, named]) => ({
    rule: 'S11',
    without,
    file: `src/outbound/saml/${file}.ts`,
    from,
    to,
    test: `test/outbound/saml-${test}.test.ts`,
    named,
  }));
}

/** One mutation for each check of a SAML response. */
export const ofSaml: Mutation[] = [
  ...of('verify', 'hostile', [
    [
      'the limit of 256 KiB',
      'const maxBytes = 256 * 1024',
      'const maxBytes = 2560 * 1024',
      '256 KiB',
    ],
    ['strict base64', "bytes.toString('base64') !== encoded", 'false', 'base64'],
    ['strict UTF-8', 'fatal: true', 'fatal: false', 'not UTF-8'],
    [
      'the name of the root',
      "!isNamed(response.root, ns.protocol, 'Response')",
      'false',
      'logout response|another namespace',
    ],
    ['that there is one assertion', 'assertions.length > 1 ||', '', 'two signed assertions'],
    [
      'the places of signatures',
      '!signatures.every((signature) => inPlace.includes(signature))',
      'false',
      'second signature elsewhere',
    ],
    [
      'that an id stands once',
      'new Set(ids.map(({ value }) => value)).size < ids.length',
      'false',
      'id twice',
    ],
    [
      'every spelling of an id',
      '/^id$/i.test(localName)',
      "localName === 'ID'",
      'spelled otherwise',
    ],
    [
      'that one place has one signature',
      'if (more.length > 0) throw samlRefused(stage,',
      'if (more.length > 9) throw samlRefused(stage,',
      'two signatures in one place',
    ],
    ['that something is signed', 'own === null && !isCovered', 'false', 'without a signature'],
    [
      'the signature of the response',
      'const signed = verified(arrived, arrived.root,',
      'const signed = verified(arrived, assertionsOf(arrived.root)[0] ?? arrived.root,',
      'broken signature around',
    ],
  ]),
  ...of('verify', 'wrapping', [
    [
      'that assertions are counted anywhere',
      "count('Assertion', 'EncryptedAssertion') > assertions.length",
      'false',
      'XSW|another namespace',
    ],
  ]),
  ...of('verify', 'encrypted', [
    [
      'that failures after decryption look alike',
      "throw samlRefused('assertion', 'assertion_unusable', error)",
      'throw error',
      'looks and lasts',
    ],
    ['that failures after decryption last alike', 'await end;', '', 'looks and lasts'],
    [
      'that a response is verified before decryption',
      "isNamed(assertion, ns.assertion, 'EncryptedAssertion'))\n    return readEncrypted(assertion, isCovered,",
      "isNamed(assertion, ns.assertion, 'EncryptedAssertion'))\n    return readEncrypted(assertion, true,",
      'AES-CBC without',
    ],
  ]),
  ...of('markup', 'hostile', [
    [
      'the refusal of a document type',
      '/<!(?:DOCTYPE|ENTITY)/i.test(text)',
      'false',
      'document type|an entity',
    ],
    ['the refusal of comments', "text.includes('<!') ||", '', 'comment in|CDATA'],
    [
      'the refusal of processing instructions',
      "text.replace(declaration, '').includes('<?')",
      'false',
      'processing instruction',
    ],
    ['the limit of depth', 'open.length > maxDepth', 'false', 'levels'],
    ['the end of an attribute', '(?:[^>"\']|"[^"]*"|\'[^\']*\')*', '[^>]*', '49 levels'],
    [
      'that closing tags match',
      'open.pop()?.name !== name',
      'open.pop() === undefined',
      'wrong order',
    ],
    [
      'that text stands in the root',
      "(open.length === 0 && part.slice(whole.length).trim() !== '')",
      'false',
      'text after',
    ],
    ['that no text stands before the root', "!text.startsWith('<')", 'false', 'text before'],
    ['the number of elements', 'elements > maxElements ||', '', '1,500 elements'],
    ['the number of attributes', '|| attributes > maxAttributes', '', '3,000 attributes'],
    ['characters that XML does not allow', 'forbidden.test(text)', 'false', 'with the character'],
    [
      'escaped characters that XML does not allow',
      'forbidden.test(character) || !character.isWellFormed()',
      'false',
      'with the character',
    ],
  ]),
  ...of('signature', 'hostile', [
    ['the list of signature algorithms', '!isKnown(algorithm)', 'false', 'RSA-SHA1|HMAC|toString'],
    [
      'the list of digests',
      '!Object.hasOwn(digestAlgorithms, algorithmOf(digest))',
      'false',
      'SHA-1 digest',
    ],
    [
      'own keys of the list',
      'Object.hasOwn(signatureAlgorithms, algorithm)',
      'algorithm in signatureAlgorithms',
      'toString',
    ],
    [
      'the canonical form of the signature',
      'algorithmOf(canonical) !== exclusive',
      'false',
      'form with comments',
    ],
    ['the list of transforms', '!isUsual(transformed)', 'false', 'transform'],
    [
      'the content of transforms',
      "contents.every(({ localName }) => localName === 'InclusiveNamespaces')",
      'true',
      'content in a transform',
    ],
    [
      'the number of parts',
      '|| found.length !== names.length',
      '',
      'Object in|XPath|two references',
    ],
    [
      'the reference to the element around',
      "attributeOf(reference, 'URI') !==",
      "'' ===",
      'another element|empty reference',
    ],
    ['that digest values are text', 'text == null || digestText == null', 'false', 'digest value'],
    [
      'the verification',
      'return verifiedText(text, signature, key);',
      "try { return verifiedText(text, signature, key); } catch { return new SignedXml().getCanonReferenceXml ? text.slice(text.indexOf('<saml:Assertion'), text.indexOf('</samlp:Response>')) : text; }",
      'changed after',
    ],
  ]),
  ...of('signature', 'cost', [
    [
      'that the value is verified before the document is read',
      'method.verifySignature(canonical, key, value)',
      'true',
      'not read before',
    ],
  ]),
  ...of('markup', 'cost', [
    ['the number of namespaces', 'namespaces > maxNamespaces', 'false', '60 namespace'],
  ]),
  ...of('verify', 'cost', [
    [
      'that only the first tag is parsed',
      'parseResponse(rootTag(decoded(field)))',
      'parseResponse(decoded(field))',
      'in a few milliseconds|no request is read',
    ],
  ]),
  ...of('response', 'hostile', [
    [
      'the version of the response',
      "attributeOf(response, 'Version') !== '2.0'",
      'false',
      'of version 1.1',
    ],
    ['the status', "if (value === 'Success') return;", 'return;', 'not Success|a status'],
    [
      'the namespace of a status',
      'value?.startsWith(statusPrefix) ? value.slice(statusPrefix.length) : null',
      "value?.split(':').at(-1) ?? null",
      'status of SAML 1.1',
    ],
    [
      'that there is a status',
      'code === undefined ||',
      'code !== undefined &&',
      'without a status',
    ],
    [
      'the issuer of the response',
      'hasIssuer || isSigned || isEncrypted',
      'isEncrypted',
      'another issuer|without an issuer',
    ],
    [
      'that a signed response has an issuer',
      'hasIssuer || isSigned || isEncrypted',
      'hasIssuer',
      'without an issuer',
    ],
    ['the issuer', 'name !== provider.entityId ||', '', 'another issuer'],
    ['the format of the issuer', '!isEntity ||', '', 'not an entity'],
    [
      'that there is one issuer',
      '|| more.length > 0)\n    throw samlRefused(stage',
      ')\n    throw samlRefused(stage',
      'two issuers',
    ],
    [
      'the destination',
      'destination === null ? isSigned : destination !== connection.acsUrl',
      'destination === null && isSigned',
      'another destination',
    ],
    [
      'that a signed response has a destination',
      'destination === null ? isSigned :',
      'destination === null ? false :',
      'without a destination',
    ],
    [
      'the request of the response',
      "attributeOf(response, 'InResponseTo') !== expected.requestId",
      'false',
      'another request|does not name a request',
    ],
  ]),
  ...of('assertion', 'hostile', [
    [
      'the version of the assertion',
      "attributeOf(assertion, 'Version') !== '2.0'",
      'false',
      'assertion of version',
    ],
    [
      'the issuer of the assertion',
      "checkIssuer(assertion, connection, 'assertion');",
      '',
      'issuer',
    ],
    ['the id of the assertion', '!id || id.length > 255', 'id === null', 'an id of'],
    [
      'the authentication statement',
      "childrenNamed(assertion, ns.assertion, 'AuthnStatement').length === 0",
      'false',
      'authentication statement',
    ],
    [
      'the period of the conditions',
      "checkPeriod({ from: instantOf(attributeOf(conditions, 'NotBefore')), until }, now);",
      '',
      'conditions ended|begins in',
    ],
    ['the list of conditions', '!childrenOf(conditions).every(isKnown)', 'false', 'condition'],
    ['that there is an audience', 'restrictions.length === 0 ||', '', 'without an audience'],
    [
      'every audience restriction',
      '!restrictions.every(isForUs)',
      '!restrictions.some(isForUs)',
      'second audience',
    ],
    ['the audience', '=== entityId', "!== ''", 'another audience'],
    [
      'that there is one subject',
      '|| more.length > 0) throw refused(reason)',
      ') throw refused(reason)',
      'two subjects',
    ],
    [
      'the method of the confirmation',
      "attributeOf(confirmation, 'Method') !== bearer",
      'false',
      'holder-of-key',
    ],
    ['the recipient', "attributeOf(data, 'Recipient') !== connection.acsUrl", 'false', 'recipient'],
    [
      'that the request is signed',
      'request === null ? !isResponseSigned :',
      'request === null ? false :',
      'unsigned part',
    ],
    [
      'the request of the assertion',
      '!isResponseSigned : request !== expected.requestId',
      '!isResponseSigned : false',
      'assertion for another request',
    ],
    [
      'the end of the confirmation',
      "if (until === null) throw refused('confirmation_missing');",
      'if (until === null) return expected.now;',
      'has no end',
    ],
    [
      'the period of the confirmation',
      "checkPeriod({ from: instantOf(attributeOf(data, 'NotBefore')), until }, expected.now);",
      '',
      'confirmation ended|confirmation begins',
    ],
    [
      'the names of attributes',
      "if (!name) throw refused('attributes_malformed');",
      "if (!name) return { name: '', friendlyName: null, values: [] };",
      'without a name',
    ],
  ]),
  ...of('instants', 'edges', [['the difference of clocks', 'skew = 60_000', 'skew = 0', '59 s']]),
  ...of('instants', 'hostile', [
    ['the limit of the difference', 'skew = 60_000', 'skew = 62_000', '60 s ago|61 s'],
    ['the form of times', 'Number.isNaN(instant.getTime())', 'false', 'time that is none'],
  ]),
  ...of('subject', 'hostile', [
    [
      'that a NameID is text',
      '!value || more.length > 0',
      "(value !== null && value === '') || more.length > 0",
      'element in the NameID',
    ],
    ['that there is one NameID', '!value || more.length > 0', '!value', 'two NameIDs'],
    ['that a NameID lasts', "format === 'transient'", 'false', 'transient'],
    ['the formats of NameIDs', '!lasting.includes(format)', 'false', 'Kerberos'],
    ['the length of a subject', 'subject.length > 255', 'false', '256 characters'],
    ['control characters in a subject', '/\\p{Cc}/u.test(subject)', 'false', 'control character'],
  ]),
  ...of('subject', 'edges', [
    [
      'that the attribute has one value',
      'value === undefined || more.length > 0',
      'value === undefined',
      'exactly one value',
    ],
  ]),
  ...of('decrypt', 'hostile', [
    ['that encryption is on', 'keys.length === 0', 'false', 'which is off'],
  ]),
  ...of('decrypt', 'encrypted', [
    [
      'that AES-CBC is covered',
      '!(cipher.isAuthenticated || isCovered)',
      'false',
      'AES-CBC without',
    ],
    ['the list of key transports', 'if (name !==', "if (name === '' && name !==", 'PKCS'],
    ['that both hashes of OAEP are the same', '|| !isOaep', '', 'two hashes'],
    ['the refusal of OAEP parameters', '|| hasParameters', '', 'parameters'],
    ['that there is one key', '|| otherKeys.length > 0', '', 'two keys'],
    ['former keys', 'for (const key of keys)', 'for (const key of keys.slice(0, 1))', 'former key'],
  ]),
  ...of('metadata', 'metadata', [
    [
      'that there is one provider',
      "if (more.length > 0) throw refused('entities_several')",
      '',
      'metadata is refused',
    ],
    ['the scheme of the address', '/^https?:$/.test(url.protocol)', 'true', 'metadata is refused'],
    ['the host of the address', '!isPlainHost(url.hostname)', 'false', 'the address'],
    ['that the address does not name a user', 'hasUser ||', '', 'the address'],
    ['the characters of an entity ID', '!isProviderId(entityId)', "entityId === ''", 'entity ID'],
    ['the strength of keys', 'bits >= 2048', 'bits > 0', 'metadata is refused|metadata gives'],
    ['the use of keys', "=== 'signing',", "!== '',", 'metadata gives|1024'],
    ['the protocol', '.split(/\\s+/).includes(ns.protocol)', '.length > 0', 'metadata is refused'],
  ]),
];
