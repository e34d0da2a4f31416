import type { StoredMetadata } from '../../../database/models/sso-connection.ts';

/** The stored part of a provider's metadata as XML, which `readSamlMetadata` reads again. */
export function metadataText(metadata: StoredMetadata): string {
  const { entityId, ssoUrl, binding, certificates, wantsSignedRequests } = metadata;
  const name = { redirect: 'HTTP-Redirect', post: 'HTTP-POST' }[binding];
  const keys = certificates.map(
    ({ pem }) =>
      `    <KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${bare(pem)}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`,
  );
  return [
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${escaped(entityId)}">`,
    `  <IDPSSODescriptor WantAuthnRequestsSigned="${wantsSignedRequests}" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">`,
    ...keys,
    `    <SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:${name}" Location="${escaped(ssoUrl)}"/>`,
    '  </IDPSSODescriptor>',
    '</EntityDescriptor>',
    '',
  ].join('\n');
}

/** The Base64 text of a certificate. */
function bare(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, '');
}

function escaped(text: string): string {
  const names: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (one) => names[one] ?? one);
}
