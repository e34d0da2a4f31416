// Certificates that Node reads, but cannot use. Both are bare Base64, as in metadata.

const bytesOf = (pem: string) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');

/** The certificate with a key of a kind that does not exist. */
export function unknownKey(pem: string): string {
  const bytes = bytesOf(pem);
  // The object identifier of RSA (RFC 8017 appendix A).
  bytes[bytes.indexOf(Buffer.from('2a864886f70d010101', 'hex')) + 8] = 0x63;
  return bytes.toString('base64');
}

/** The certificate with an end in month 13. */
export function endless(pem: string): string {
  const bytes = bytesOf(pem);
  // The period is a sequence of two UTCTimes, each with 13 characters (RFC 5280 §4.1.2.5.1).
  const period = bytes.indexOf(Buffer.from('301e170d', 'hex'));
  bytes.write('13', period + 2 + 15 + 2 + 2, 'ascii');
  return bytes.toString('base64');
}
