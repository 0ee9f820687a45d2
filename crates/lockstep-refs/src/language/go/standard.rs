//! Interfaces of the standard library that types of a project are used for.

/// Interfaces by their full names, with their methods.
const INTERFACES: &[(&str, &[&str])] = &[
    ("error", &["Error"]),
    ("fmt.Stringer", &["String"]),
    ("fmt.Formatter", &["Format"]),
    ("sort.Interface", &["Len", "Less", "Swap"]),
    ("container/heap.Interface", &["Len", "Less", "Swap", "Push", "Pop"]),
    ("net/http.Handler", &["ServeHTTP"]),
    ("net/http.ResponseWriter", &["Header", "Write", "WriteHeader"]),
    ("net/http.Flusher", &["Flush"]),
    ("net/http.RoundTripper", &["RoundTrip"]),
    ("net/http.FileSystem", &["Open"]),
    ("net/http.CookieJar", &["SetCookies", "Cookies"]),
    ("io.Reader", &["Read"]),
    ("io.Writer", &["Write"]),
    ("io.Closer", &["Close"]),
    ("io.Seeker", &["Seek"]),
    ("io.ReaderAt", &["ReadAt"]),
    ("io.WriterAt", &["WriteAt"]),
    ("io.ReaderFrom", &["ReadFrom"]),
    ("io.WriterTo", &["WriteTo"]),
    ("io.ByteReader", &["ReadByte"]),
    ("io.ByteWriter", &["WriteByte"]),
    ("io.StringWriter", &["WriteString"]),
    ("io.ReadCloser", &["Read", "Close"]),
    ("io.WriteCloser", &["Write", "Close"]),
    ("io.ReadWriter", &["Read", "Write"]),
    ("io.ReadWriteCloser", &["Read", "Write", "Close"]),
    ("io.ReadSeeker", &["Read", "Seek"]),
    ("io/fs.FS", &["Open"]),
    ("io/fs.File", &["Stat", "Read", "Close"]),
    ("io/fs.FileInfo", &["Name", "Size", "Mode", "ModTime", "IsDir", "Sys"]),
    ("os.FileInfo", &["Name", "Size", "Mode", "ModTime", "IsDir", "Sys"]),
    ("context.Context", &["Deadline", "Done", "Err", "Value"]),
    ("flag.Value", &["String", "Set"]),
    ("sync.Locker", &["Lock", "Unlock"]),
    ("encoding.TextMarshaler", &["MarshalText"]),
    ("encoding.TextUnmarshaler", &["UnmarshalText"]),
    ("encoding.BinaryMarshaler", &["MarshalBinary"]),
    ("encoding.BinaryUnmarshaler", &["UnmarshalBinary"]),
    ("encoding/json.Marshaler", &["MarshalJSON"]),
    ("encoding/json.Unmarshaler", &["UnmarshalJSON"]),
    ("database/sql.Scanner", &["Scan"]),
    ("database/sql/driver.Valuer", &["Value"]),
    ("net.Conn", &["Read", "Write", "Close", "LocalAddr", "RemoteAddr", "SetDeadline"]),
    ("net.Listener", &["Accept", "Close", "Addr"]),
    ("net.Addr", &["Network", "String"]),
    ("hash.Hash", &["Write", "Sum", "Reset", "Size", "BlockSize"]),
    ("log/slog.Handler", &["Enabled", "Handle", "WithAttrs", "WithGroup"]),
];

/// Functions by their full names, with the interfaces of their parameters by position. An empty name means
/// any other type.
const FUNCTIONS: &[(&str, &[&str])] = &[
    ("net/http.Handle", &["", "net/http.Handler"]),
    ("net/http.ListenAndServe", &["", "net/http.Handler"]),
    ("net/http.ListenAndServeTLS", &["", "", "", "net/http.Handler"]),
    ("net/http.Serve", &["net.Listener", "net/http.Handler"]),
    ("net/http.StripPrefix", &["", "net/http.Handler"]),
    ("net/http.TimeoutHandler", &["net/http.Handler"]),
    ("net/http.MaxBytesHandler", &["net/http.Handler"]),
    ("net/http.FileServer", &["net/http.FileSystem"]),
    ("net/http.Error", &["net/http.ResponseWriter"]),
    ("net/http.Redirect", &["net/http.ResponseWriter"]),
    ("net/http.NotFound", &["net/http.ResponseWriter"]),
    ("net/http.SetCookie", &["net/http.ResponseWriter"]),
    ("net/http.ServeFile", &["net/http.ResponseWriter"]),
    ("net/http.NewRequest", &["", "", "io.Reader"]),
    ("net/http/httptest.NewServer", &["net/http.Handler"]),
    ("net/http/httptest.NewTLSServer", &["net/http.Handler"]),
    ("net/http/httptest.NewUnstartedServer", &["net/http.Handler"]),
    ("net/http/httptest.NewRequest", &["", "", "io.Reader"]),
    ("sort.Sort", &["sort.Interface"]),
    ("sort.Stable", &["sort.Interface"]),
    ("sort.Reverse", &["sort.Interface"]),
    ("sort.IsSorted", &["sort.Interface"]),
    ("container/heap.Init", &["container/heap.Interface"]),
    ("container/heap.Push", &["container/heap.Interface"]),
    ("container/heap.Pop", &["container/heap.Interface"]),
    ("container/heap.Fix", &["container/heap.Interface"]),
    ("container/heap.Remove", &["container/heap.Interface"]),
    ("io.Copy", &["io.Writer", "io.Reader"]),
    ("io.CopyN", &["io.Writer", "io.Reader"]),
    ("io.ReadAll", &["io.Reader"]),
    ("io.ReadFull", &["io.Reader"]),
    ("io.WriteString", &["io.Writer"]),
    ("io.TeeReader", &["io.Reader", "io.Writer"]),
    ("io.LimitReader", &["io.Reader"]),
    ("io.NopCloser", &["io.Reader"]),
    ("io.MultiReader", &["io.Reader", "io.Reader", "io.Reader"]),
    ("io.MultiWriter", &["io.Writer", "io.Writer", "io.Writer"]),
    ("bufio.NewReader", &["io.Reader"]),
    ("bufio.NewWriter", &["io.Writer"]),
    ("bufio.NewScanner", &["io.Reader"]),
    ("fmt.Fprint", &["io.Writer"]),
    ("fmt.Fprintf", &["io.Writer"]),
    ("fmt.Fprintln", &["io.Writer"]),
    ("fmt.Fscan", &["io.Reader"]),
    ("fmt.Fscanln", &["io.Reader"]),
    ("encoding/json.NewEncoder", &["io.Writer"]),
    ("encoding/json.NewDecoder", &["io.Reader"]),
    ("encoding/xml.NewEncoder", &["io.Writer"]),
    ("encoding/xml.NewDecoder", &["io.Reader"]),
    ("encoding/csv.NewWriter", &["io.Writer"]),
    ("encoding/csv.NewReader", &["io.Reader"]),
    ("compress/gzip.NewWriter", &["io.Writer"]),
    ("compress/gzip.NewReader", &["io.Reader"]),
    ("log.New", &["io.Writer"]),
    ("log.SetOutput", &["io.Writer"]),
    ("flag.Var", &["flag.Value"]),
    ("errors.Is", &["error", "error"]),
    ("errors.As", &["error"]),
    ("errors.Unwrap", &["error"]),
    ("errors.Join", &["error", "error", "error"]),
    ("context.WithCancel", &["context.Context"]),
    ("context.WithTimeout", &["context.Context"]),
    ("context.WithDeadline", &["context.Context"]),
    ("context.WithValue", &["context.Context"]),
];

/// Fields of types, with their interfaces.
const FIELDS: &[(&str, &str)] = &[
    ("net/http.Server.Handler", "net/http.Handler"),
    ("net/http.Client.Transport", "net/http.RoundTripper"),
    ("net/http.Client.Jar", "net/http.CookieJar"),
    ("net/http.Request.Body", "io.ReadCloser"),
    ("net/http.Response.Body", "io.ReadCloser"),
    ("os/exec.Cmd.Stdin", "io.Reader"),
    ("os/exec.Cmd.Stdout", "io.Writer"),
    ("os/exec.Cmd.Stderr", "io.Writer"),
];

/// Returns true if an interface has a method of this name.
pub(super) fn is_method(name: &str) -> bool {
    INTERFACES.iter().any(|(_, methods)| methods.contains(&name))
}

pub(super) fn methods(interface: &str) -> Option<&'static [&'static str]> {
    INTERFACES.iter().find(|(name, _)| *name == interface).map(|(_, methods)| *methods)
}

/// Returns the interface of a function's parameter.
pub(super) fn parameter(function: &str, at: usize) -> Option<&'static str> {
    let (_, takes) = FUNCTIONS.iter().find(|(name, _)| *name == function)?;
    takes.get(at).copied().filter(|name| !name.is_empty())
}

/// Returns the interface of a field, by the full name of its type and its name.
pub(super) fn field(path: &str) -> Option<&'static str> {
    FIELDS.iter().find(|(name, _)| *name == path).map(|(_, interface)| *interface)
}
