// Package inputs gives each worker of a fleet the files that the controller prepared a run from.
//
// A run is prepared from files, folders, tokenizers, datasets of a hub and addresses: all that run.Deps gives. On
// the controller a Ledger notes the files read, with the SHA-256 of each. On a worker a Supply gives the same
// content under the same names: a file of that machine if it has that digest, else the controller's, through the
// object store of the run. It gives nothing else: a file that the controller did not read does not exist for a
// worker, although its machine may have it.
//
//	controller                                     worker
//	Ledger.Watch(deps), run.Prepare
//	Ledger.Plan(spec), Ledger.Inputs ── Order ───> NewSupply, Supply.Check
//	              <── Readiness: needs, differs ──
//	Ledger.Offer ── object store of the run ─────> Supply.Take
//	                                               run.Prepare(Supply.Deps), Digest
//
// A file that a worker has under the same name with another content is not replaced: which of the two is meant,
// only the user knows. Of a tokenizer and of a dataset only the files that were opened count, not the weights in
// the same folder.
//
// A source of a secret in a Spec is no Input; see Secrets.
//
// Digest sums up the requests and their due times. It is the last word: if the digests of a
// controller and a worker are equal, they send the same, whatever it was made from.
package inputs
