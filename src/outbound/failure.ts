import { Refusal } from '../errors.ts';
import type { NetworkReason } from '../reasons.ts';

/** Texts for failures. Each continues a sentence that starts with the host or the endpoint. */
export const failureWords: Record<NetworkReason, string> = {
  timeout: 'did not answer in time',
  too_large: 'answered with more than the allowed 1 MiB',
  redirected: 'answered with a redirect, which is not followed',
  name_not_found: 'cannot be resolved',
  connection_refused: 'refused the connection',
  tls_untrusted: 'has a TLS certificate that is not trusted',
  tls_name_mismatch: 'has a TLS certificate for another name',
  tls_expired: 'has a TLS certificate that is not valid now',
  tls_missing: 'does not speak TLS correctly',
  unreachable: 'could not be reached',
};

const failures: Record<string, NetworkReason> = {
  TimeoutError: 'timeout',
  AbortError: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'too_large',
  ENOTFOUND: 'name_not_found',
  EAI_AGAIN: 'name_not_found',
  ECONNREFUSED: 'connection_refused',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_name_mismatch',
  CERT_HAS_EXPIRED: 'tls_expired',
  CERT_NOT_YET_VALID: 'tls_expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_untrusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_untrusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_untrusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_untrusted',
  ERR_SSL_WRONG_VERSION_NUMBER: 'tls_missing',
};

/** The refusal for a failed request. A refusal among the error's causes is returned as it is. */
export function failureOf(error: unknown, host: string): Refusal {
  const chain = causes(error);
  const refusal = chain.find((one) => one instanceof Refusal);
  return refusal ?? requestFailed(host, reasonOf(error), error);
}

/** The reason for a failed connection or request, judged by network and TLS errors. */
export function reasonOf(error: unknown): NetworkReason {
  const keys = causes(error).flatMap((one) => [one.name, 'code' in one ? String(one.code) : '']);
  const key = keys.find((one) => Object.hasOwn(failures, one));
  return (key && failures[key]) || 'unreachable';
}

/** The refusal for a request that failed with this reason. */
export function requestFailed(host: string, reason: NetworkReason, cause?: unknown): Refusal {
  return new Refusal('upstream_failed', `${host} ${failureWords[reason]}`, {
    failure: { reason },
    extra: { reason },
    cause,
  });
}

/** The error and its causes, starting with the error. */
export function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 10; at = at.cause) chain.push(at);
  return chain;
}
