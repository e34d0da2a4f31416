/** Ends a command with 1 whose result on stdout has already said what is wrong. */
export function failedResult(): Error {
  return Object.assign(new Error('the result is a failure'), { name: 'FailedResult' });
}
