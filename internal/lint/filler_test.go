package lint

import "testing"

func TestFiller(t *testing.T) {
	for _, s := range []string{
		"This error occurs when something goes wrong.",
		"This error occurs when an operation fails.",
		"The exception is thrown if the request is invalid.",
		"An unexpected error occurred.",
		"Something went wrong",
		"Check the logs.",
		"Please check the server logs for more details.",
		"Check your configuration and try again.",
		"Verify your network connection.",
		"Make sure that your environment is set up correctly.",
		"Ensure all parameters are valid.",
		"Try again later.",
		"Restart the application.",
		"Update to the latest version.",
		"Contact support for assistance.",
		"Contact your system administrator.",
		"Fix the underlying issue.",
		"Handle the error gracefully.",
		"Follow best practices.",
		"Write more unit tests.",
		"Validate all inputs.",
		"There are several possible reasons for this error.",
		"Various reasons.",
		"It can happen in many situations.",
		"N/A", "TODO", "—", "...", "Not applicable.", "To be written.", "Lorem ipsum dolor sit amet.",
		"As an AI I cannot run this code.",
	} {
		if !isFiller(s) {
			t.Errorf("not seen as filler: %q", s)
		}
	}
	for _, s := range []string{
		"This error occurs when `queue.size` reaches `queue.limit`.",
		"This error occurs when the operation `acquire` finds no worker.",
		"Check the logs of the plugin worker for a line with `duplexChannelOpen`.",
		"Check your configuration: `queue.limit` has to be above zero.",
		"Verify that the snapshot shows `duplexCommandStream`.",
		"Make sure that the lease is a plugin lease.",
		"Try again after the back-off of 30 seconds.",
		"Restart the mail worker.",
		"Update the sandbox plugin and the server together.",
		"Contact the owner of the lease.",
		"Fix the spelling of the driver key.",
		"Handle the error by falling back to `execute`.",
		"Write a test that opens two channels on one lease.",
		"Validate the shape of `lease.metadata` when a lease is restored.",
		"Nothing has to be done on the host.",
		"None of the workers declares the capability.",
		"The request fails.",
		"An error of the provider is passed on unchanged.",
	} {
		if isFiller(s) {
			t.Errorf("seen as filler: %q", s)
		}
	}
}
