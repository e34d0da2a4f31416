// The namespaces and identifiers of SAML 2.0, XML signature and XML encryption.

const saml = 'urn:oasis:names:tc:SAML:2.0:';

export const ns = {
  assertion: `${saml}assertion`,
  protocol: `${saml}protocol`,
  metadata: `${saml}metadata`,
  signature: 'http://www.w3.org/2000/09/xmldsig#',
  encryption: 'http://www.w3.org/2001/04/xmlenc#',
} as const;

export const bindings = {
  redirect: `${saml}bindings:HTTP-Redirect`,
  post: `${saml}bindings:HTTP-POST`,
} as const;

export const statusPrefix = `${saml}status:`;
export const bearer = `${saml}cm:bearer`;

export const nameIdFormats = {
  persistent: `${saml}nameid-format:persistent`,
  transient: `${saml}nameid-format:transient`,
  entity: `${saml}nameid-format:entity`,
  unspecified: 'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  emailAddress: 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
} as const;

export const exclusive = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const enveloped = `${ns.signature}enveloped-signature`;
export const rsaSha256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
export const sha256 = `${ns.encryption}sha256`;
