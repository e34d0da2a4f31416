/** Ends a command with exit code 1 if its result on stdout already says what is wrong. */
export function failedResult(): Error {
  return Object.assign(new Error('the result is a failure'), { name: 'FailedResult' });
}
